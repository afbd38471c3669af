export {
  AmbientLight, BoxGeometry, BufferGeometry, CapsuleGeometry, Color, ConeGeometry, CylinderGeometry, DirectionalLight,
  DoubleSide, Float32BufferAttribute, GridHelper, Group, HemisphereLight, Line, LineBasicMaterial, LineSegments, Matrix4,
  Mesh, MeshBasicMaterial, MeshLambertMaterial, MeshPhongMaterial, PerspectiveCamera, Quaternion, Scene, SphereGeometry,
  TorusGeometry, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
