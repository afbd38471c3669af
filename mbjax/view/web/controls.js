// Sliders, buttons, the clock, and the loop that draws what has changed.
const part = (id) => document.getElementById(id);
let now = first;
let playing = false;
let before = null;
let world = null;

const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.classList.toggle("dark", dark);
part("name").textContent = data.name.replaceAll("_", " ");
part("message").textContent = data.success ? "" : `stopped: ${data.message}`;
part("message").classList.toggle("bad", !data.success);

const plots = new Plots(part("plots"), (t) => { playing = false; go(t); });
try {
  world = new World(part("scene"), part("labels"));
} catch (error) {
  part("message").textContent = `No 3-D picture: this browser gives no WebGL (${error.message}).`;
  part("message").classList.add("bad");
}

// Clearance drawn 1 to 200 times as large, and forces from 1/30 to 30 times the usual length, on logarithmic sliders.
const factorOf = (position) => 200 ** position;
const scaleOf = (position) => (position <= 0 ? 0 : 900 ** (position - 0.5));
const positionOf = (factor) => Math.log(factor) / Math.log(200);

function go(t) {
  now = Math.min(Math.max(t, first), last);
  part("time").value = now;
  refresh();
}

function refresh() {
  const where = locate(now);
  part("clock").textContent = withUnit(Number(now.toPrecision(5)), "s");
  if (world) {
    world.factor = factorOf(Number(part("exaggeration").value));
    world.forceScale = scaleOf(Number(part("force").value));
    part("factor").textContent = `${digits(Number(world.factor.toPrecision(3)))} × as large`;
    part("newton").textContent = world.forceScale ? `${withUnit(world.force(world.cell), "N")} per ${withUnit(world.cell, "m")}` : "hidden";
    world.place(where);
  }
  part("pace").textContent = `${digits(Number((10 ** Number(part("speed").value)).toPrecision(2)))} × real time`;
  fillTable(where);
  changed = true;
}

let changed = true;
const rows = data.joints.map((joint) => {
  const row = part("forces").insertRow();
  row.insertCell().textContent = joint.name;
  const force = row.insertCell();
  const depth = row.insertCell();
  force.className = depth.className = "n";
  return { joint, row, force, depth };
});
const heading = part("forces").createTHead().insertRow();
["force in joint", "", data.joints.some((j) => j.depth !== null) ? "depth (negative: gap)" : ""].forEach((text) => {
  heading.insertCell().textContent = text;
});
part("forces").style.display = rows.length && rows.length <= 12 ? "" : "none";

function fillTable(where) {
  rows.forEach(({ joint, row, force, depth }) => {
    const vector = vectorAt(joint.force, where, new THREE.Vector3());
    force.textContent = vector ? withUnit(vector.length(), "N") : "undetermined";
    if (joint.depth === null) return;
    const value = between(joint.depth, where);
    depth.textContent = withUnit(value, "m");
    row.className = value > 0 ? "touch" : "";
  });
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  return { back: read("back"), ink: read("ink"), soft: read("soft"), line: read("line"), accent: read("accent") };
}

function loop(clock) {
  if (playing) {
    const speed = 10 ** Number(part("speed").value);
    const t = now + (before === null ? 0 : ((clock - before) / 1000) * speed);
    go(t > last ? first + ((t - first) % Math.max(last - first, 1e-12)) : t);
  }
  before = playing ? clock : null;
  part("play").textContent = playing ? "⏸" : "▶";
  if (world) world.controls.update();
  const style = colours();
  if (changed) plots.draw(now, locate(now), style);
  if (world && (changed || world.dirty)) world.render(style.back, part("names").checked);
  changed = false;
  document.documentElement.dataset.ready = "yes";
  requestAnimationFrame(loop);
}

function list() {
  const wanted = part("filter").value.toLowerCase();
  part("list").replaceChildren(...data.channels.filter((c) => c.name.toLowerCase().includes(wanted)).map((channel) => {
    const label = document.createElement("label");
    const tick = document.createElement("input");
    tick.type = "checkbox";
    tick.checked = plots.has(channel.name);
    tick.addEventListener("change", () => {
      if (tick.checked) plots.add(channel.name); else plots.remove(channel.name);
      changed = true;
    });
    const unit = document.createElement("i");
    unit.textContent = ` [${channel.unit}]`;
    label.append(tick, ` ${channel.name}`, unit);
    return label;
  }));
}

const span = Math.max(last - first, 1e-12);
part("time").min = first;
part("time").max = last;
part("speed").value = span > 3 && span < 30 ? 0 : Math.log10(span / 10); // slow or quick motion plays in ten seconds
const loose = data.joints.filter((j) => j.magnified.some(Boolean));
const widest = Math.max(...loose.map((j) => j.sizes.clearance || 0), 0);
part("looseness").style.display = loose.length ? "" : "none";
part("exaggeration").value = widest ? Math.min(Math.max(positionOf((0.03 * data.size) / widest), 0), 1) : 0;
part("force").value = 0.5;
part("ghost").checked = loose.length > 0;
part("names").checked = data.bodies.length + data.joints.length <= 30;
if (world) {
  world.ghost(part("ghost").checked);
  part("grid").textContent = `grid ${withUnit(world.cell, "m")}`;
  new ResizeObserver(() => { world.resize(); changed = true; }).observe(part("stage"));
  world.resize();
}
part("time").addEventListener("input", () => { playing = false; go(Number(part("time").value)); });
["exaggeration", "force", "speed"].forEach((id) => part(id).addEventListener("input", refresh));
part("play").addEventListener("click", () => { playing = !playing; });
part("ghost").addEventListener("change", () => world && world.ghost(part("ghost").checked));
part("names").addEventListener("change", () => { changed = true; });
part("theme").addEventListener("click", () => { document.documentElement.classList.toggle("dark"); changed = true; });
part("filter").addEventListener("input", list);
document.querySelectorAll("[data-view]").forEach((b) => b.addEventListener("click", () => world && world.look(b.dataset.view)));
document.addEventListener("keydown", (event) => {
  if (event.target.tagName === "INPUT" && event.target.type === "search") return;
  if (event.key === " ") { event.preventDefault(); playing = !playing; }
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (step && event.target.tagName !== "INPUT") {
    playing = false;
    go(times[Math.min(Math.max(locate(now).row + step, 0), times.length - 1)]);
  }
});
list();
go(first);
requestAnimationFrame(loop);
