// Meshes of simple solids. Cylinders and capsules of three.js lie along y; here everything lies along z.
const unitY = new THREE.Vector3(0, 1, 0);
const unitZ = new THREE.Vector3(0, 0, 1);
const palette = [0x3f7fbf, 0xd98032, 0x4a9d5b, 0xa86bb5, 0xc9584f, 0x3fa3a3, 0x9a8a3c, 0x6f7fd0];

function material(colour, options) {
  return new THREE.MeshLambertMaterial({ color: colour, ...options });
}

function alongZ(geometry) {
  return geometry.rotateX(Math.PI / 2);
}

function cylinder(radius, length, paint, open) {
  return new THREE.Mesh(alongZ(new THREE.CylinderGeometry(radius, radius, length, 40, 1, Boolean(open))), paint);
}

function ball(radius, paint) {
  return new THREE.Mesh(new THREE.SphereGeometry(radius, 32, 20), paint);
}

function box(size, paint) {
  return new THREE.Mesh(new THREE.BoxGeometry(...size), paint);
}

// A body's shape in its own axes.
function solid(shape, paint) {
  if (shape.kind === "capsule") {
    const a = new THREE.Vector3(...shape.from);
    const b = new THREE.Vector3(...shape.to);
    const mesh = new THREE.Mesh(new THREE.CapsuleGeometry(shape.radius, a.distanceTo(b), 8, 24), paint);
    mesh.position.addVectors(a, b).multiplyScalar(0.5);
    mesh.quaternion.setFromUnitVectors(unitY, b.sub(a).normalize());
    return mesh;
  }
  const mesh = shape.kind === "box" ? box(shape.size, paint)
    : shape.kind === "disc" ? cylinder(shape.radius, shape.length, paint) : ball(shape.radius, paint);
  mesh.position.set(...shape.at);
  if (shape.turn) mesh.quaternion.fromArray(shape.turn);
  return mesh;
}

// An arrow along z of length 1 times `thickness` units of width; stretch it with `point`.
class Arrow {
  constructor(colour, width) {
    const paint = material(colour, { emissive: colour, emissiveIntensity: 0.35, transparent: true, depthTest: false });
    this.group = new THREE.Group();
    this.shaft = cylinder(width, 1, paint);
    this.head = new THREE.Mesh(alongZ(new THREE.ConeGeometry(2.6 * width, 7 * width, 24)), paint);
    this.shaft.renderOrder = this.head.renderOrder = 10; // never hidden inside a body
    this.width = width;
    this.group.add(this.shaft, this.head);
  }

  point(at, direction, length) {
    this.group.visible = length > 0.5 * this.width;
    if (!this.group.visible) return;
    const head = Math.min(1, length / (10 * this.width));
    const shaft = Math.max(length - 7 * this.width * head, 1e-9);
    this.group.position.copy(at);
    this.group.quaternion.setFromUnitVectors(unitZ, direction);
    this.shaft.scale.set(1, 1, shaft);
    this.shaft.position.z = shaft / 2;
    this.head.scale.setScalar(head);
    this.head.position.z = length - 3.5 * this.width * head;
  }
}

// A line through points that can be set anew.
function thread(points, colour, options) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  return new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: colour, ...options }));
}
