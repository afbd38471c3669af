// The scene: bodies, joints, springs, arrows, grid and camera.
class World {
  constructor(canvas, labels) {
    this.canvas = canvas;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.scene = new THREE.Scene();
    this.outline = data.outline.map((p) => new THREE.Vector3(...p));
    this.low = this.outline.reduce((a, p) => a.min(p), this.outline[0].clone()).addScalar(-data.reach);
    this.high = this.outline.reduce((a, p) => a.max(p), this.outline[0].clone()).addScalar(data.reach);
    this.centre = new THREE.Vector3().addVectors(this.low, this.high).multiplyScalar(0.5);
    this.radius = Math.max(this.low.distanceTo(this.high) / 2, 1e-9);
    this.up = new THREE.Vector3(...data.up);
    this.camera = new THREE.PerspectiveCamera(30, 1, this.radius / 100, this.radius * 100);
    this.camera.up.copy(this.up);
    this.scene.add(new THREE.HemisphereLight(0xffffff, 0x707880, 1.7), this.camera);
    const sun = new THREE.DirectionalLight(0xffffff, 1.7);
    sun.position.set(-0.6, 0.9, 0.4);
    this.camera.add(sun);
    this.factor = 1;
    this.forceScale = 1;
    this.addBodies();
    this.joints = data.joints.map((j) => new Joint(j, this.groups[j.bearing] || this.scene));
    this.arrows = data.joints.map(() => new Arrow(0xe0322b, 0.45 * w));
    this.arrows.forEach((a) => this.scene.add(a.group));
    this.addSprings();
    this.addGrid();
    this.addLabels(labels);
    this.unitForce = this.usualForce();
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => { this.dirty = true; });
    this.look("all");
  }

  addBodies() {
    this.groups = data.bodies.map((body, k) => {
      const group = new THREE.Group();
      const paint = material(palette[k % palette.length]);
      body.shapes.forEach((shape) => group.add(solid(shape, paint)));
      group.paint = paint;
      this.scene.add(group);
      return group;
    });
    const dot = new THREE.MeshBasicMaterial({ color: 0x9b59d0 });
    data.markers.forEach((m) => {
      const mesh = ball(0.7 * w, dot);
      mesh.position.set(...m.at);
      (this.groups[m.body] || this.scene).add(mesh);
    });
  }

  addSprings() {
    this.springs = data.springs.map((spring) => {
      const turns = 9;
      const points = [];
      for (let k = 0; k <= turns * 16; k += 1) {
        const a = (k / 16) * 2 * Math.PI;
        points.push(1.6 * w * Math.cos(a), 1.6 * w * Math.sin(a), k / (turns * 16));
      }
      const coil = thread(points, 0x2f9e6e, {});
      coil.frustumCulled = false;
      this.scene.add(coil);
      return { spring, coil };
    });
  }

  // Behind a planar mechanism, below a spatial one.
  addGrid() {
    this.cell = roundNumber(this.radius / 4);
    const half = Math.ceil((1.5 * this.radius) / this.cell);
    const grid = new THREE.GridHelper(2 * half * this.cell, 2 * half, 0x808894, 0x808894);
    grid.material.transparent = true;
    grid.material.opacity = 0.28;
    grid.material.depthWrite = false;
    const normal = data.normal ? new THREE.Vector3(...data.normal) : this.up;
    grid.quaternion.setFromUnitVectors(unitY, normal);
    const depth = data.normal ? 0.25 * data.size : 0.02 * this.radius + this.drop(normal);
    grid.position.copy(this.centre).addScaledVector(normal, -depth);
    this.scene.add(grid);
    // The global directions, at the lowest corner.
    this.corner = this.low.clone();
    this.corner.addScaledVector(normal, grid.position.clone().sub(this.corner).dot(normal));
    this.tips = [0xd0392b, 0x2f9e4f, 0x2f6fd0].map((colour, k) => {
      const tip = this.corner.clone();
      tip.setComponent(k, tip.getComponent(k) + 0.15 * data.size);
      this.scene.add(thread([...this.corner.toArray(), ...tip.toArray()], colour, {}));
      return tip;
    });
  }

  // How far the box reaches from its centre against a direction.
  drop(normal) {
    const half = new THREE.Vector3().subVectors(this.high, this.low).multiplyScalar(0.5);
    return Math.abs(normal.x) * half.x + Math.abs(normal.y) * half.y + Math.abs(normal.z) * half.z;
  }

  addLabels(labels) {
    const add = (text, kind) => {
      const span = document.createElement("span");
      span.textContent = text;
      span.className = kind;
      labels.append(span);
      return span;
    };
    this.labels = [
      ...data.bodies.map((b, k) => ({ span: add(b.name, "body"), at: () => this.groups[k].position, lift: -16 })),
      ...data.joints.map((j, k) => ({
        span: add(j.name, "joint"),
        at: () => this.joints[k].carried.getWorldPosition(scratchVector),
        lift: 14,
      })),
      ...this.tips.map((tip, k) => ({ span: add("xyz"[k], "joint"), at: () => tip, lift: 0 })),
    ];
  }

  // The force whose arrow has this length (m).
  force(length) {
    return (4 * this.unitForce * length) / (data.size * this.forceScale);
  }

  // Force that is drawn a quarter of the mechanism long: the largest of what the joints carry most of the time.
  usualForce() {
    let usual = 0;
    data.joints.forEach((joint) => {
      const sizes = joint.force.map((f) => (f.includes(null) ? 0 : Math.hypot(...f))).sort((a, b) => a - b);
      usual = Math.max(usual, sizes[Math.floor(0.9 * (sizes.length - 1))]);
    });
    return usual || 1;
  }

  // Camera along an axis, or from the front right above; everything in sight.
  look(view) {
    const side = new THREE.Vector3();
    if (data.normal && view === "all") {
      const normal = new THREE.Vector3(...data.normal);
      side.crossVectors(this.up, normal).multiplyScalar(0.28).add(normal).addScaledVector(this.up, 0.3);
    } else if (view === "all") {
      side.set(0.75, -1, 0.2).addScaledVector(this.up, -side.dot(this.up)).normalize().addScaledVector(this.up, 0.45);
    } else {
      side.setComponent("xyz".indexOf(view), view === "y" ? -1 : 1);
      if (Math.abs(side.dot(this.up)) > 0.99) side.addScaledVector(new THREE.Vector3(0.001, -0.001, 0.001), 1);
    }
    side.normalize();
    this.controls.target.copy(this.centre);
    this.camera.position.copy(this.centre).add(side);
    this.camera.lookAt(this.centre);
    this.camera.updateMatrixWorld();
    this.camera.position.addScaledVector(side, this.distance() - 1);
    this.controls.update();
    this.dirty = true;
  }

  // Distance from which all of the motion lies in the picture.
  distance() {
    const up = Math.tan((this.camera.fov * Math.PI) / 360) * 0.82;
    const across = up * this.camera.aspect;
    const inverse = this.camera.quaternion.clone().invert();
    let far = 0;
    this.outline.forEach((point) => {
      const p = point.clone().sub(this.centre).applyQuaternion(inverse);
      far = Math.max(far, p.z + (Math.abs(p.x) + data.reach) / across, p.z + (Math.abs(p.y) + data.reach) / up);
    });
    return Math.max(far, 1e-6);
  }

  resize() {
    const { clientWidth, clientHeight } = this.canvas.parentElement;
    if (!clientWidth || !clientHeight) return;
    const fresh = this.camera.aspect === 1;
    this.renderer.setSize(clientWidth, clientHeight, false);
    this.camera.aspect = clientWidth / clientHeight;
    this.camera.updateProjectionMatrix();
    if (fresh) this.look("all");
    this.dirty = true;
  }

  ghost(on) {
    this.groups.forEach(({ paint }) => {
      paint.transparent = on;
      paint.opacity = on ? 0.4 : 1;
      paint.depthWrite = !on;
      paint.needsUpdate = true;
    });
    this.dirty = true;
  }

  // Puts everything where it is at a time.
  place(where) {
    data.bodies.forEach((body, k) => {
      vectorAt(body.position, where, this.groups[k].position);
      quaternionAt(body.turn, where, this.groups[k].quaternion);
    });
    this.joints.forEach((joint) => joint.place(where, this.factor));
    this.scene.updateMatrixWorld();
    const force = new THREE.Vector3();
    const at = new THREE.Vector3();
    data.joints.forEach((joint, k) => {
      const known = vectorAt(joint.force, where, force);
      const size = known ? force.length() : 0;
      const length = Math.min((size / this.force(data.size)) * data.size || 0, 0.7 * data.size);
      this.joints[k].carried.getWorldPosition(at);
      this.arrows[k].point(at, size ? force.divideScalar(size) : unitZ, length);
    });
    this.springs.forEach(({ spring, coil }) => {
      const [a, b] = spring.ends.map(([body, point]) => {
        const end = new THREE.Vector3(...point);
        return body < 0 ? end : this.groups[body].localToWorld(end);
      });
      coil.position.copy(a);
      const length = Math.max(b.sub(a).length(), 1e-9);
      coil.quaternion.setFromUnitVectors(unitZ, b.divideScalar(length));
      coil.scale.z = length;
    });
    this.dirty = true;
  }

  render(background, names) {
    this.scene.background = new THREE.Color(background);
    this.renderer.render(this.scene, this.camera);
    const { clientWidth, clientHeight } = this.canvas;
    const taken = [];
    this.labels.forEach(({ span, at, lift }) => {
      const p = scratchVector.copy(at()).project(this.camera);
      span.style.display = names && p.z < 1 ? "" : "none";
      const x = ((p.x + 1) / 2) * clientWidth;
      let y = ((1 - p.y) / 2) * clientHeight + lift;
      while (taken.some(([a, b]) => Math.abs(a - x) < 30 && Math.abs(b - y) < 13)) y += 13;
      taken.push([x, y]);
      span.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(8px, -50%)`;
    });
    this.dirty = false;
  }
}
