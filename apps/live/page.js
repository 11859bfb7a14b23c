// The page of weft live: asks for frames while controls change, one at a time, and draws them. What is wanted is always
// the newest state of the controls, so what changes while a frame is under way is one more frame and not many.
"use strict";

const HEADER_BYTES = 1024;
const byId = (id) => document.getElementById(id);

// ---- what can be set ----

const edge = { id: "edge", label: "Roll-off", choices: ["gaussian", "butterworth", "ideal"], value: "gaussian" };
const order = { id: "order", label: "Order (Butterworth)", min: 1, max: 10, step: 1, value: 2, only: (v) => v.edge === "butterworth" };
const cutoff = { id: "cutoff", label: "Cutoff (cycles per pixel)", min: 0.005, max: 0.7, step: 0.005, value: 0.1 };
const angle = { id: "angle", label: "Angle (degrees)", min: -90, max: 90, step: 1, value: 0 };
const blurred = { id: "blur", label: "Blur", choices: ["gaussian", "motion", "disc"], value: "disc" };

const withOrder = (v, text) => (v.edge === "butterworth" ? `${text},${v.order}` : text);
const kinds = {
  gaussian: {
    controls: [
      { id: "sx", label: "\u03c3 x (pixels)", min: 0, max: 30, step: 0.1, value: 3 },
      { id: "sy", label: "\u03c3 y (pixels)", min: 0, max: 30, step: 0.1, value: 1 },
      angle,
    ],
    text: (v) => `${v.sx},${v.sy},${v.angle}`,
  },
  lowpass: { controls: [edge, cutoff, order], text: (v) => withOrder(v, `${v.edge},${v.cutoff}`) },
  highpass: { controls: [edge, cutoff, order], text: (v) => withOrder(v, `${v.edge},${v.cutoff}`) },
  bandpass: {
    controls: [
      edge,
      { id: "low", label: "From (cycles per pixel)", min: 0.005, max: 0.69, step: 0.005, value: 0.05 },
      { id: "width", label: "Width (cycles per pixel)", min: 0.005, max: 0.5, step: 0.005, value: 0.15 },
      order,
    ],
    text: (v) => withOrder(v, `${v.edge},${v.low},${(+v.low + +v.width).toFixed(4)}`),
  },
  wiener: {
    controls: [
      blurred,
      { id: "extent", label: "\u03c3, length or radius (pixels)", min: 0, max: 30, step: 0.1, value: 2 },
      { ...angle, id: "direction", only: (v) => v.blur === "motion" },
      { id: "noise", label: "Noise to signal (power of 10)", min: -5, max: 0, step: 0.1, value: -2 },
    ],
    text: (v) => `${v.blur},${v.extent}${v.blur === "motion" ? `,${v.direction}` : ""},${(10 ** v.noise).toPrecision(4)}`,
  },
  none: { controls: [], text: null },
};

// What is another thing for a whole volume: widths come in the order of its axes, and nothing is turned.
const along = (axis) => ({ id: `s${axis}`, label: `\u03c3 along axis ${axis} (voxels)`, min: 0, max: 30, step: 0.1, value: 2 });
const volumeKinds = {
  ...kinds,
  gaussian: { controls: [0, 1, 2].map(along), text: (v) => `${v.s0},${v.s1},${v.s2}` },
  wiener: {
    controls: kinds.wiener.controls.filter((c) => c.id === "extent" || c.id === "noise"),
    text: (v) => `gaussian,${v.extent},${(10 ** v.noise).toPrecision(4)}`,
  },
};

const values = {}; // of the kind's controls, as text
let description = { mostFilters: 0, extents: [], processes: 1, devices: [], videoRate: null };
let strokes = []; // of the brush; each a list of notches
let sequence = 0;
let shown = null; // the header of the frame that is shown
const video = { playing: false, once: null, timer: 0 }; // once: "pause" or "step", until it is done

// ---- asking ----

function stamps() {
  return strokes.flat();
}

function whole() {
  return description.extents.length > 0 && byId("space").value === "volume";
}

function chosenKind() {
  return (whole() ? volumeKinds : kinds)[byId("kind").value];
}

// In a whole volume a stamp is a ball at frequency 0 across the slice that it was painted on.
function notch(s) {
  const numbers = whole() ? [s.v, s.u] : [s.u, s.v];
  if (whole()) numbers.splice(s.axis, 0, 0);
  return `notch ${[...numbers, s.radius].map((x) => x.toFixed(4)).join(",")}`;
}

function motion() {
  return video.once ?? (video.playing ? "play" : null);
}

function request() {
  const kind = chosenKind();
  const lines = [`sequence ${++sequence}`, `device ${byId("device").value}`, `boundary ${byId("boundary").value}`];
  if (description.extents.length) lines.push(`axis ${byId("axis").value}`, `index ${byId("index").value}`);
  if (whole()) lines.push("space volume");
  if (motion()) lines.push(`video ${motion()}`);
  if (byId("before").getAttribute("aria-pressed") === "true") return lines.join("\n");
  if (kind.text) lines.push(`${byId("kind").value} ${kind.text(values)}`);
  lines.push(...stamps().map(notch));
  return lines.join("\n");
}

let wanted = false;
let busy = false;
const finished = []; // when the last frames came

async function work() {
  if (busy) return;
  busy = true;
  while (wanted) {
    wanted = false;
    const begin = performance.now();
    const moved = motion();
    try {
      const answer = await fetch("frame", { method: "POST", body: request() });
      if (answer.ok) {
        show(await answer.arrayBuffer(), begin);
        if (video.once === moved) video.once = null;
        if (video.playing) waitForNext();
      } else if (answer.status === 409) {
        wanted = true; // another page has asked, too
        await new Promise((resolve) => setTimeout(resolve, 50));
      } else {
        fail(await answer.text());
      }
    } catch {
      fail("The server does not answer: weft live has ended.");
    }
  }
  busy = false;
}

function askAgain() {
  wanted = true;
  work();
}

function ask() {
  byId("problem").hidden = true;
  askAgain();
}

function fail(sentence) {
  setPlaying(false);
  video.once = null;
  complain(sentence);
}

function complain(sentence) {
  byId("problem").textContent = sentence;
  byId("problem").hidden = false;
}

// ---- the video ----

function setPlaying(playing) {
  video.playing = playing;
  byId("play").textContent = playing ? "Pause" : "Play";
  clearTimeout(video.timer);
}

// The server tells when the next frame is due. Nobody looks at a hidden page.
function waitForNext() {
  clearTimeout(video.timer);
  if (!document.hidden) video.timer = setTimeout(askAgain, shown.wait);
}

function togglePlaying() {
  setPlaying(!video.playing);
  video.once = video.playing ? null : "pause";
  ask();
}

function step() {
  setPlaying(false);
  video.once = "step";
  ask();
}

// ---- drawing ----

function draw(canvas, bytes, rows, columns, channels) {
  if (canvas.width !== columns || canvas.height !== rows) {
    canvas.width = columns;
    canvas.height = rows;
  }
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(columns, rows);
  const to = new Uint32Array(pixels.data.buffer);
  const count = rows * columns;
  if (channels === 1) {
    for (let i = 0; i < count; i++) to[i] = 0xff000000 | (bytes[i] * 0x010101);
  } else {
    for (let i = 0; i < count; i++)
      to[i] = 0xff000000 | (bytes[2 * count + i] << 16) | (bytes[count + i] << 8) | bytes[i];
  }
  context.putImageData(pixels, 0, 0);
}

function show(buffer, begin) {
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 0, HEADER_BYTES)));
  const pixels = header.rows * header.columns * header.channels;
  const spectrum = byId("spectrum");
  draw(byId("picture"), new Uint8Array(buffer, HEADER_BYTES, pixels), header.rows, header.columns, header.channels);
  draw(spectrum, new Uint8Array(buffer, HEADER_BYTES + pixels), header.spectrumRows, header.spectrumColumns, header.channels);
  shown = header;
  const now = performance.now();
  finished.push(now);
  while (finished.length > 20 || now - finished[0] > 2000) finished.shift();
  const rate = finished.length > 2 ? ((finished.length - 1) * 1000) / (now - finished[0]) : 0;
  const place = "number" in header ? `frame ${header.number}, ${header.dropped} dropped \u00b7 ` : "";
  byId("status").textContent =
    `${header.columns} \u00d7 ${header.rows} \u00b7 ${place}computed in ${header.time.toFixed(1)} ms (filter ${header.filterTime.toFixed(1)}) \u00b7 ` +
    `shown in ${(now - begin).toFixed(1)} ms \u00b7 ${rate ? `${rate.toFixed(0)} a second \u00b7 ` : ""}` +
    `${header.engine} on ${header.device}, ${header.processes > 1 ? `${header.processes} processes, ` : ""}${header.steps} passes, ${header.transforms} of them transforms`;
  document.body.dataset.sequence = header.sequence;
  drawBrush();
}

// ---- controls ----

function update() {
  for (const output of document.querySelectorAll("output")) output.textContent = byId(output.htmlFor[0]).value;
  byId("undo").disabled = byId("clear").disabled = strokes.length === 0;
  for (const control of chosenKind().controls) {
    const box = byId(control.id).parentElement;
    box.hidden = Boolean(control.only && !control.only(values));
  }
}

function changed() {
  update();
  drawBrush();
  ask();
}

function makeControl(control) {
  const box = document.createElement("div");
  const label = document.createElement("label");
  const field = document.createElement(control.choices ? "select" : "input");
  box.className = "control";
  label.textContent = control.label;
  label.htmlFor = field.id = control.id;
  box.append(label);
  if (control.choices) {
    for (const choice of control.choices) field.add(new Option(choice, choice));
  } else {
    const output = document.createElement("output");
    output.htmlFor = control.id;
    box.append(output);
    field.type = "range";
    for (const name of ["min", "max", "step"]) field[name] = control[name];
  }
  box.append(field);
  field.value = values[control.id] ?? control.value;
  values[control.id] = field.value;
  field.addEventListener(control.choices ? "change" : "input", () => {
    values[control.id] = field.value;
    changed();
  });
  return box;
}

function chooseKind() {
  byId("parameters").replaceChildren(...chosenKind().controls.map(makeControl));
  changed();
}

// What lies beyond the edges of a whole volume is itself or its mirror image.
function chooseSpace() {
  const boundary = byId("boundary");
  boundary.querySelector("[value=zero]").disabled = whole();
  if (whole() && boundary.value === "zero") boundary.value = "periodic";
  chooseKind();
}

function chooseAxis() {
  const extent = description.extents[byId("axis").value];
  byId("index").max = extent - 1;
  byId("index").value = Math.floor(extent / 2);
  changed();
}

function toggleBefore() {
  const button = byId("before");
  const before = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", before);
  byId("picture-caption").textContent = before ? "Picture, as it is in the file" : "Picture, filtered";
  changed();
}

// ---- the brush ----

const brush = { u: 0.1, v: 0, painting: false, visible: false };

// From the last stamp of the stroke to where the brush is, half a radius apart.
function addStamps() {
  const radius = +byId("brush").value;
  const stroke = strokes[strokes.length - 1];
  const last = stroke[stroke.length - 1] ?? { u: brush.u, v: brush.v };
  const distance = Math.hypot(brush.u - last.u, brush.v - last.v);
  if (stroke.length > 0 && distance < radius / 2) return;
  const count = Math.max(1, Math.floor(distance / (radius / 2)));
  if (stamps().length + count >= description.mostFilters) {
    complain("The mask is full: undo some of it.");
    return;
  }
  for (let i = 1; i <= count; i++)
    stroke.push({ u: last.u + ((brush.u - last.u) * i) / count, v: last.v + ((brush.v - last.v) * i) / count, radius, axis: +byId("axis").value });
  changed();
}

// Frequency 0 is the pixel at floor(n / 2).
function moveBrush(event) {
  const view = byId("brush-view").getBoundingClientRect();
  const columns = byId("spectrum").width;
  const rows = byId("spectrum").height;
  const x = ((event.clientX - view.left) / view.width) * columns - 0.5;
  const y = ((event.clientY - view.top) / view.height) * rows - 0.5;
  setBrush((x - Math.floor(columns / 2)) / columns, (y - Math.floor(rows / 2)) / rows);
}

function setBrush(u, v) {
  brush.u = Math.min(0.5, Math.max(-0.5, u));
  brush.v = Math.min(0.5, Math.max(-0.5, v));
  brush.visible = true;
  drawBrush();
}

// The brush and its mirror image.
function drawBrush() {
  const view = byId("brush-view");
  const columns = (view.width = byId("spectrum").width);
  const rows = (view.height = byId("spectrum").height);
  const context = view.getContext("2d");
  const radius = +byId("brush").value;
  if (!brush.visible) return;
  for (const sign of [1, -1]) {
    const x = Math.floor(columns / 2) + 0.5 + sign * brush.u * columns;
    const y = Math.floor(rows / 2) + 0.5 + sign * brush.v * rows;
    for (const [width, colour] of [[3, "#000"], [1.5, sign > 0 ? "#ffd23f" : "#9ad1ff"]]) {
      context.lineWidth = (width * columns) / 512;
      context.strokeStyle = colour;
      context.beginPath();
      context.ellipse(x, y, radius * columns, radius * rows, 0, 0, 2 * Math.PI);
      context.stroke();
    }
  }
}

function undo() {
  strokes.pop();
  changed();
}

function brushKey(event) {
  const step = (event.shiftKey ? 8 : 1) / (shown ? shown.spectrumColumns : 512);
  const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
  if (moves[event.key]) {
    setBrush(brush.u + moves[event.key][0], brush.v + moves[event.key][1]);
  } else if (event.key === " " || event.key === "Enter") {
    strokes.push([]);
    addStamps();
  } else {
    return;
  }
  event.preventDefault();
}

function listen() {
  const keys = { b: toggleBefore };
  if (description.videoRate !== null) Object.assign(keys, { p: togglePlaying, ".": step });
  const view = byId("brush-view");
  view.addEventListener("pointerdown", (event) => {
    view.setPointerCapture(event.pointerId);
    brush.painting = true;
    strokes.push([]);
    moveBrush(event);
    addStamps();
  });
  view.addEventListener("pointermove", (event) => {
    moveBrush(event);
    if (brush.painting) addStamps();
  });
  view.addEventListener("lostpointercapture", () => (brush.painting = false));
  for (const name of ["pointerup", "pointercancel"]) view.addEventListener(name, () => (brush.painting = false));
  view.addEventListener("pointerleave", () => {
    brush.visible = brush.painting;
    drawBrush();
  });
  view.addEventListener("focus", () => setBrush(brush.u, brush.v));
  view.addEventListener("keydown", brushKey);
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      undo();
    } else if (!event.ctrlKey && !event.metaKey && !event.altKey && event.target.tagName !== "SELECT") {
      keys[event.key.toLowerCase()]?.();
    }
  });
  byId("play").addEventListener("click", togglePlaying);
  byId("step").addEventListener("click", step);
  document.addEventListener("visibilitychange", () => {
    if (video.playing && !document.hidden) ask();
  });
  byId("kind").addEventListener("change", chooseKind);
  byId("space").addEventListener("change", chooseSpace);
  byId("axis").addEventListener("change", chooseAxis);
  for (const id of ["boundary", "device"]) byId(id).addEventListener("change", changed);
  for (const id of ["index", "brush"]) byId(id).addEventListener("input", changed);
  byId("before").addEventListener("click", toggleBefore);
  byId("undo").addEventListener("click", undo);
  byId("clear").addEventListener("click", () => {
    strokes = [];
    changed();
  });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
}

async function begin() {
  description = await (await fetch("description")).json();
  byId("name").textContent = description.name;
  document.title = `${description.name} \u2013 weft live`;
  for (const device of description.devices) byId("device").add(new Option(device, device));
  listen();
  if (description.extents.length) {
    description.extents.forEach((extent, axis) => byId("axis").add(new Option(`${axis} (${extent} slices)`, axis)));
    byId("slices").hidden = false;
    if (description.processes > 1) byId("space").value = "volume";
    byId("index").max = description.extents[0] - 1;
    byId("index").value = Math.floor(description.extents[0] / 2);
  }
  byId("video").hidden = description.videoRate === null;
  setPlaying(description.videoRate !== null);
  chooseSpace();
}

begin().catch(() => complain("The server does not answer: weft live has ended."));
