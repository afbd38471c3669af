// The data of the page, and reading it between two frames.
const data = JSON.parse(document.getElementById("data").textContent);
const times = data.times;
const first = times[0];
const last = times[times.length - 1];

// Index of the frame at or before t, and how far t lies on the way to the next (0 to 1).
function locate(t) {
  let low = 0;
  let high = times.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  if (high === low) return { row: 0, next: 0, part: 0 };
  return { row: low, next: high, part: Math.min(Math.max((t - times[low]) / (times[high] - times[low]), 0), 1) };
}

// A number between two frames; null where either is unknown.
function between(values, where) {
  const a = values[where.row];
  const b = values[where.next];
  return a === null || b === null ? null : a + (b - a) * where.part;
}

// A vector between two frames, or null.
function vectorAt(rows, where, out) {
  const a = rows[where.row];
  const b = rows[where.next];
  if (a.includes(null) || b.includes(null)) return null;
  return out.set(a[0], a[1], a[2]).lerp(scratchVector.set(b[0], b[1], b[2]), where.part);
}

function quaternionAt(rows, where, out) {
  out.fromArray(rows[where.row]);
  return out.slerp(scratchQuaternion.fromArray(rows[where.next]), where.part);
}

const scratchVector = new THREE.Vector3();
const scratchQuaternion = new THREE.Quaternion();

const prefixes = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

// "12.3 mm": a number with its unit, four digits, with a prefix where the unit takes one.
function withUnit(x, unit) {
  if (x === null) return "unknown";
  const bare = unit === "1" || unit === "m or rad" ? "" : unit;
  if (!["m", "N", "J", "W", "N m", "m/s", "s"].includes(unit) || x === 0) return `${digits(x)} ${bare}`.trim();
  const [scale, letter] = prefixes.find(([s]) => Math.abs(x) >= s * 0.9999) || [1, ""];
  return `${digits(x / scale)} ${letter}${unit}`;
}

function digits(x) {
  const size = Math.abs(x);
  return size !== 0 && (size < 1e-3 || size >= 1e5) ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}

// The largest of 1, 2, 5 times a power of ten below x.
function roundNumber(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return (x >= 5 * power ? 5 : x >= 2 * power ? 2 : 1) * power;
}
