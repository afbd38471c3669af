// Channels over time, each with a cursor at the time of the scene.
class Plots {
  constructor(room, choose) {
    this.room = room;
    this.choose = choose;
    this.plots = [];
    this.known = new Map(data.channels.map((c) => [c.name, c]));
    data.shown.forEach((name) => this.add(name));
  }

  add(name) {
    const channel = this.known.get(name);
    if (!channel || this.has(name)) return;
    const part = document.createElement("div");
    part.className = "plot";
    part.dataset.channel = name;
    const title = document.createElement("div");
    title.className = "title";
    const text = document.createElement("span");
    text.textContent = `${name} [${channel.unit}]`;
    const value = document.createElement("span");
    value.className = "value";
    title.append(text, value);
    const canvas = document.createElement("canvas");
    part.append(title, canvas);
    this.room.append(part);
    const seek = (event) => {
      const { left, width } = canvas.getBoundingClientRect();
      const share = Math.min(Math.max((event.clientX - left - margin) / (width - margin - 4), 0), 1);
      this.choose(first + share * (last - first));
    };
    canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); seek(e); });
    canvas.addEventListener("pointermove", (e) => { if (e.buttons) seek(e); });
    this.plots.push({ name, channel, part, canvas, value });
  }

  has(name) {
    return this.plots.some((p) => p.name === name);
  }

  remove(name) {
    this.plots.filter((p) => p.name === name).forEach((p) => p.part.remove());
    this.plots = this.plots.filter((p) => p.name !== name);
  }

  // Draws all curves and the cursor at `t`.
  draw(t, where, style) {
    this.plots.forEach((plot) => {
      const y = between(plot.channel.values, where);
      plot.value.textContent = withUnit(y, plot.channel.unit);
      drawCurve(plot.canvas, plot.channel, t, y, style);
    });
  }
}

const margin = 52;

function drawCurve(canvas, channel, t, now, style) {
  const density = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * density)) canvas.width = Math.round(width * density);
  if (canvas.height !== Math.round(height * density)) canvas.height = Math.round(height * density);
  const pen = canvas.getContext("2d");
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, width, height);
  const [low, high] = range(channel);
  const right = width - margin - 4;
  const x = (time) => margin + (last > first ? ((time - first) / (last - first)) * right : right / 2);
  const y = (value) => height - 8 - ((value - low) / (high - low)) * (height - 16);
  pen.strokeStyle = style.line;
  pen.fillStyle = style.soft;
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  pen.lineWidth = 1;
  const step = roundNumber((high - low) / 2);
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) {
    pen.beginPath();
    pen.moveTo(margin, y(k * step));
    pen.lineTo(width - 4, y(k * step));
    pen.stroke();
    pen.fillText(digits(Number((k * step).toPrecision(6))), margin - 5, y(k * step));
  }
  pen.strokeStyle = style.accent;
  pen.lineWidth = 1.3;
  pen.beginPath();
  let down = false;
  channel.values.forEach((value, row) => {
    if (value !== null && down) pen.lineTo(x(times[row]), y(value));
    else if (value !== null) pen.moveTo(x(times[row]), y(value));
    down = value !== null;
  });
  pen.stroke();
  pen.strokeStyle = style.ink;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(x(t), 2);
  pen.lineTo(x(t), height - 2);
  pen.stroke();
  if (now === null) return;
  pen.fillStyle = style.ink;
  pen.beginPath();
  pen.arc(x(t), y(now), 3, 0, 2 * Math.PI);
  pen.fill();
}

// Lowest and highest value, never equal; remembered.
function range(channel) {
  if (channel.range) return channel.range;
  let low = Infinity;
  let high = -Infinity;
  channel.values.forEach((value) => {
    if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
  });
  if (low > high) [low, high] = [-1, 1];
  const pad = high - low > 1e-12 * Math.max(Math.abs(low), Math.abs(high)) ? 0 : Math.max(Math.abs(low) * 1e-3, 1e-12);
  channel.range = [low - pad, high + pad];
  return channel.range;
}
