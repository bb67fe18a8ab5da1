// No library: what is left out here is all but the drawing and the dragging.
const canvas = document.createElement("canvas");
Object.assign(canvas, { width: innerWidth, height: innerHeight });
box.append(canvas);
const gl = canvas.getContext("webgl", { alpha: false });
const program = gl.createProgram();
for (const [type, text] of [
  [gl.VERTEX_SHADER, `
    attribute vec2 place; attribute vec3 shade; uniform vec3 view; varying vec3 colour;
    void main() {
      gl_Position = vec4((place + view.xy) * vec2(view.z, 1), 0, 1);
      gl_PointSize = 3.0;
      colour = shade;
    }`],
  [gl.FRAGMENT_SHADER, `
    precision mediump float; varying vec3 colour;
    void main() { gl_FragColor = vec4(colour, 0.5 * step(length(gl_PointCoord - 0.5), 0.5)); }`],
]) {
  const shader = gl.createShader(type);
  gl.shaderSource(shader, text);
  gl.compileShader(shader);
  gl.attachShader(program, shader);
}
gl.linkProgram(program);
gl.useProgram(program);
gl.enable(gl.BLEND);
gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
const place = new Float32Array(2 * n);
const shade = new Float32Array(3 * n);
for (let i = 0; i < n; i++) {
  place[2 * i] = x[i];
  place[2 * i + 1] = y[i];
  for (let k = 0; k < 3; k++) shade[3 * i + k] = channels[code[i]][k] / 255;
}
for (const [name, data, size] of [["place", place, 2], ["shade", shade, 3]]) {
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
  const at = gl.getAttribLocation(program, name);
  gl.enableVertexAttribArray(at);
  gl.vertexAttribPointer(at, size, gl.FLOAT, false, 0, 0);
}
const view = [0, 0, innerHeight / innerWidth];
const where = gl.getUniformLocation(program, "view");
const draw = () => {
  gl.clearColor(1, 1, 1, 1);
  gl.clear(gl.COLOR_BUFFER_BIT);
  gl.uniform3fv(where, view);
  gl.drawArrays(gl.POINTS, 0, n);
};
addEventListener("mousemove", (event) => {
  if (!event.buttons) return;
  view[0] += (2 * event.movementX) / innerHeight;
  view[1] -= (2 * event.movementY) / innerHeight;
  requestAnimationFrame(draw);
});
draw();
done();
