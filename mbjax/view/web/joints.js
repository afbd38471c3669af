// Joints: a part on the bearing, a part on the journal, and where there is play, both drawn apart by a factor.
const steel = 0x8a94a0;
const journalColour = 0xf2c230;
const touchColour = 0xe5484d;
const w = data.thickness;

class Joint {
  constructor(joint, parent) {
    this.joint = joint;
    this.loose = joint.magnified.some(Boolean);
    this.base = new THREE.Group();
    this.base.position.set(...joint.at);
    this.base.quaternion.fromArray(joint.axes);
    parent.add(this.base);
    this.carried = new THREE.Group();
    this.base.add(this.carried);
    this.shift = new THREE.Vector3();
    this.turn = new THREE.Quaternion();
    const draw = drawings[joint.kind] || drawings.other;
    draw(this, joint);
    if (joint.bearing < 0) this.pedestal();
    if (this.loose) {
      this.trail = thread(new Float32Array(3 * times.length), journalColour, { transparent: true, opacity: 0.7 });
      this.trail.frustumCulled = false;
      this.leader = thread(new Float32Array(6), steel, {});
      this.leader.frustumCulled = false;
      this.base.add(this.trail, this.leader);
    }
  }

  // A foot under what stands on the ground, off to the side so that it hides nothing.
  pedestal() {
    if (["slide", "guide", "plane", "link", "free"].includes(this.joint.kind)) return;
    const foot = box([5 * w, 5 * w, 0.8 * w], material(steel));
    foot.position.z = -3 * w;
    this.base.add(foot);
  }

  // The journal's displacement with the small motions multiplied by k.
  displaced(row, k, out) {
    const [radial, axial] = this.joint.magnified;
    const d = this.joint.displacement[row];
    const across = radial ? k : 1;
    return out.set(across * d[0], across * d[1], (axial ? k : 1) * d[2]);
  }

  // Where things are at a time, at magnification k.
  place(where, k) {
    this.displaced(where.row, k, this.shift).lerp(this.displaced(where.next, k, scratchVector), where.part);
    quaternionAt(this.joint.turn, where, this.turn);
    if (this.joint.magnified[2]) magnifyTilt(this.turn, k);
    this.carried.position.copy(this.shift);
    this.carried.quaternion.copy(this.turn);
    if (this.follow) this.follow(this.shift);
    if (this.resize && this.factor !== k) this.resize(k);
    if (this.loose) this.trace(where, k);
    this.factor = k;
    const depth = this.joint.depth === null ? null : between(this.joint.depth, where);
    if (this.paint) this.paint.color.setHex(depth !== null && depth > 0 ? touchColour : journalColour);
  }

  // The path of the journal's centre, and a line from where it is to where it is drawn.
  trace(where, k) {
    const path = this.trail.geometry.attributes.position;
    if (this.factor !== k) {
      for (let row = 0; row < times.length; row += 1) this.displaced(row, k, scratchVector).toArray(path.array, 3 * row);
      path.needsUpdate = true;
    }
    const line = this.leader.geometry.attributes.position;
    this.displaced(where.row, 1, scratchVector).toArray(line.array, 0);
    this.shift.toArray(line.array, 3);
    line.needsUpdate = true;
  }
}

// Turns q so that its axis leans k times as far; spin stays.
function magnifyTilt(q, k) {
  const axis = new THREE.Vector3(0, 0, 1).applyQuaternion(q);
  const lean = new THREE.Quaternion().setFromUnitVectors(unitZ, axis);
  axis.set(k * axis.x, k * axis.y, axis.z).normalize();
  const more = new THREE.Quaternion().setFromUnitVectors(unitZ, axis);
  q.premultiply(lean.invert()).premultiply(more);
}

function glass(colour) {
  return material(colour, { transparent: true, opacity: 0.3, side: THREE.DoubleSide, depthWrite: false });
}

// Journal: a disc (or long pin) with a stripe that shows its spin; bearing: a ring that opens with the magnification.
function roundPlay(view, joint, length, journalLength) {
  const journal = Math.max(joint.sizes.radius - joint.sizes.clearance, 0.8 * w);
  view.paint = material(journalColour);
  const pin = cylinder(journal, journalLength, view.paint);
  const stripe = box([journal, 0.25 * w, journalLength + 0.2 * w], material(0x4b4020));
  stripe.position.x = journal / 2;
  view.carried.add(pin, stripe);
  const rim = material(steel);
  view.resize = (k) => {
    if (view.ring) { view.base.remove(view.ring); view.ring.traverse((m) => m.geometry && m.geometry.dispose()); }
    const inner = journal + k * joint.sizes.clearance;
    view.ring = new THREE.Group();
    for (const end of length > 2 * w ? [-0.5, 0.5] : [0]) {
      const hoop = new THREE.Mesh(new THREE.TorusGeometry(inner + 0.35 * w, 0.35 * w, 12, 64), rim);
      hoop.position.z = end * length;
      view.ring.add(hoop);
    }
    view.ring.add(cylinder(inner, length, glass(steel), true));
    view.base.add(view.ring);
  };
}

const drawings = {
  hinge(view) {
    view.base.add(cylinder(1.45 * w, 3.2 * w, material(steel)));
    view.carried.add(cylinder(0.7 * w, 4.4 * w, material(0x30363d)));
  },
  cylinder(view) {
    view.base.add(cylinder(1.45 * w, 4 * w, material(steel)));
    view.carried.add(cylinder(0.7 * w, 9 * w, material(0x30363d)));
  },
  ball(view) { view.base.add(ball(1.6 * w, material(steel))); },
  cross(view) {
    view.base.add(ball(1.3 * w, material(steel)));
    for (const turn of ["x", "y"]) {
      const arm = cylinder(0.5 * w, 4.4 * w, material(0x30363d));
      arm.rotation[turn] = Math.PI / 2;
      view.base.add(arm);
    }
  },
  slide(view, joint) { rails(view, joint, joint.block[0] / 2 + 0.5 * w, "x"); },
  guide(view, joint) {
    const walls = rails(view, joint, joint.block[1] / 2, "y");
    const half = joint.sizes.height / 2;
    view.paint = material(journalColour, { transparent: true, opacity: 0.75 });
    view.carried.add(box(joint.block, view.paint));
    view.resize = (k) => walls.forEach((m, side) => {
      m.position.y = (side ? 1 : -1) * (half + k * joint.sizes.clearance + 0.3 * w);
    });
  },
  link(view) {
    const rod = cylinder(0.5 * w, 1, material(steel));
    view.base.add(rod);
    view.follow = (shift) => {
      const length = Math.max(shift.length(), 1e-9);
      rod.scale.z = length;
      rod.position.copy(shift).multiplyScalar(0.5);
      rod.quaternion.setFromUnitVectors(unitZ, scratchVector.copy(shift).divideScalar(length));
    };
  },
  weld(view) { view.base.add(box([2.6 * w, 2.6 * w, 2.6 * w], material(steel))); },
  free() {},
  other(view) { view.base.add(box([2 * w, 2 * w, 2 * w], material(steel))); },
  ring(view, joint) { roundPlay(view, joint, 1.6 * w, 4.2 * w); },
  sleeve(view, joint) { roundPlay(view, joint, joint.sizes.length, 1.3 * joint.sizes.length + w); },
  socket(view, joint) {
    const inside = Math.max(joint.sizes.radius - joint.sizes.clearance, 0.8 * w);
    view.paint = material(journalColour);
    view.carried.add(ball(inside, view.paint));
    const rims = ["x", "y", "z"].map((axis) => {
      const hoop = new THREE.Mesh(new THREE.TorusGeometry(1, 0.03, 8, 64), material(steel));
      if (axis !== "z") hoop.rotation[axis] = Math.PI / 2;
      return hoop;
    });
    const shell = ball(1, glass(steel));
    view.base.add(shell, ...rims);
    view.resize = (k) => [shell, ...rims].forEach((m) => m.scale.setScalar(inside + k * joint.sizes.clearance));
  },
  plane(view) {
    view.base.add(cylinder(data.size, 0.1 * w, glass(steel)));
  },
  bushing(view) {
    view.base.add(new THREE.Mesh(new THREE.TorusGeometry(2.2 * w, 0.9 * w, 16, 48), material(0x39424d)));
    view.paint = material(journalColour);
    view.carried.add(cylinder(1.0 * w, 4 * w, view.paint), box([2.6 * w, 0.4 * w, 0.4 * w], view.paint));
  },
};

// Two rails along the axis, as long as the journal travels.
function rails(view, joint, offset, side) {
  const along = joint.displacement.map((d) => d[2]);
  const low = along.reduce((a, b) => Math.min(a, b), Infinity) - 0.75 * joint.block[2];
  const high = along.reduce((a, b) => Math.max(a, b), -Infinity) + 0.75 * joint.block[2];
  return [-1, 1].map((sign) => {
    const size = side === "x" ? [0.6 * w, 0.8 * joint.block[1], high - low] : [0.8 * joint.block[0], 0.6 * w, high - low];
    const wall = box(size, material(steel, { transparent: true, opacity: 0.8 }));
    wall.position.set(0, 0, (low + high) / 2);
    wall.position[side] = sign * offset;
    view.base.add(wall);
    return wall;
  });
}
