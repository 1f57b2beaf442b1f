// The arena: what the player wants goes in, what the client sees is drawn.

import { Chart, fitted } from "./chart.js";
import init, { Game } from "./pkg/porous_play.js";
import { PorousLink } from "./porous.js";

const TICK = 1000 / 60;
/** The arena and the edge around it in steps; its directions, and the one of a player that stands. */
const [ACROSS, DOWN, EDGE, DIRECTIONS, STAND] = [3200, 1600, 100, 16, 16];
const MODES = ["unreliable", "reliable", "passive"];
const KEYS = {
  KeyW: [0, -1], KeyA: [-1, 0], KeyS: [0, 1], KeyD: [1, 0],
  ArrowUp: [0, -1], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowRight: [1, 0],
};

const by_id = (id) => document.getElementById(id);
const arena = by_id("arena");
const held = new Set();
let is_bot = new URLSearchParams(location.search).has("bot");
/** Where the pointer is in the arena; undefined as long as there is none. */
let pointer;
let is_pressed = false, is_touch = false;

const direction = (x, y) => Math.round((Math.atan2(y, x) / (2 * Math.PI)) * DIRECTIONS + DIRECTIONS) % DIRECTIONS;

/** The bodies that are shown. */
function bodies(view) {
  const all = [];
  for (let n = 0; n < view.length; n += 6) {
    const [number, x, y, aim, health] = view.subarray(n, n + 6);
    all.push({ number, x, y, aim, health });
  }
  return all;
}

/** What the player wants: a direction to walk, one to aim, and whether to fire. */
function wanted(all, you) {
  const me = all.find((body) => body.number === you);
  let [x, y] = [0, 0];
  for (const key of held) {
    x += KEYS[key]?.[0] ?? 0;
    y += KEYS[key]?.[1] ?? 0;
  }
  if (me && is_touch && is_pressed) [x, y] = [pointer.x - me.x, pointer.y - me.y];
  const walk = x || y ? direction(x, y) : STAND;
  if (!me) return [walk, 0, false];
  const far = (body) => Math.hypot(body.x - me.x, body.y - me.y);
  const others = all.filter((body) => body.number !== you && body.health > 0);
  const nearest = others.sort((a, b) => far(a) - far(b))[0];
  const target = is_touch || !pointer ? nearest : pointer;
  const aim = target ? direction(target.x - me.x, target.y - me.y) : 0;
  return [walk, aim, held.has("Space") || is_pressed];
}

/** The colours of the page as it is now. */
function colours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ink", "faint", "line", "you", "other", "hurt", "reliable", "unreliable", "passive"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

function draw(all, you, style) {
  const { pen, width, height } = fitted(arena);
  // Who stands at the edge is seen whole.
  const [scale, size] = [width / (ACROSS + 2 * EDGE), Math.max(5, width / 110)];
  pen.clearRect(0, 0, width, height);
  pen.strokeStyle = style.line;
  for (let x = EDGE; x <= EDGE + ACROSS; x += 400) stroke(pen, x * scale, 0, x * scale, height);
  for (let y = EDGE; y <= EDGE + DOWN; y += 400) stroke(pen, 0, y * scale, width, y * scale);
  for (const body of all) {
    const [x, y] = [(body.x + EDGE) * scale, (body.y + EDGE) * scale];
    const colour = body.number === you ? style.you : body.health <= 40 ? style.hurt : style.other;
    pen.strokeStyle = pen.fillStyle = colour;
    if (body.health === 0) {
      pen.lineWidth = 2;
      stroke(pen, x - size, y - size, x + size, y + size);
      stroke(pen, x - size, y + size, x + size, y - size);
      continue;
    }
    const angle = (body.aim / DIRECTIONS) * 2 * Math.PI;
    pen.lineWidth = Math.max(2, size / 3);
    stroke(pen, x, y, x + Math.cos(angle) * size * 2, y + Math.sin(angle) * size * 2);
    pen.beginPath();
    pen.arc(x, y, size, 0, 2 * Math.PI);
    pen.fill();
    pen.lineWidth = 1.5;
    if (body.number === you) {
      pen.beginPath();
      pen.arc(x, y, size * 1.7, 0, 2 * Math.PI);
      pen.stroke();
    }
    pen.fillRect(x - size, y - size * 2.2, (2 * size * body.health) / 100, 2);
  }
  pen.lineWidth = 1;
}

function stroke(pen, from_x, from_y, to_x, to_y) {
  pen.beginPath();
  pen.moveTo(from_x, from_y);
  pen.lineTo(to_x, to_y);
  pen.stroke();
}

/** A list of children, of which nothing but texts is of the game. */
function fill(parent, rows, make) {
  parent.replaceChildren(...rows.map(make));
}

function element(name, text, kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = kind;
  return made;
}

function tell(game) {
  fill(by_id("news"), game.news().reverse().slice(0, 5), (line) => element("li", line));
  const numbers = game.scores(), scores = [];
  for (let n = 0; n < numbers.length; n += 3) scores.push(numbers.subarray(n, n + 3));
  scores.sort((a, b) => b[1] - a[1] || a[2] - b[2]);
  fill(by_id("scores"), scores.slice(0, 8), ([player, felled, fallen]) => {
    const is_you = player === game.you();
    const row = element("tr", "", is_you ? "you" : "");
    row.append(element("td", is_you ? `${player} (you)` : player), element("td", felled), element("td", fallen));
    return row;
  });
}

function charts(game) {
  const rtt = new Chart(by_id("rtt-chart"), { least: 20, unit: "ms", colours: ["ink"] });
  const loss = new Chart(by_id("loss-chart"), { least: 5, unit: "%", colours: ["ink"] });
  const modes = new Chart(by_id("modes-chart"), { least: 50, unit: "ms", colours: MODES });
  return {
    measure(now) {
      const stats = game.peer_stats();
      if (stats?.state === "connected") {
        rtt.add(now, 0, stats.rtt_ms);
        loss.add(now, 0, Math.max(stats.loss_sent, stats.loss_received) * 100);
        by_id("rtt").textContent = `${stats.rtt_ms.toFixed(0)} ms, jitter ${stats.jitter_ms.toFixed(0)} ms`;
        by_id("loss").textContent =
          `${(stats.loss_sent * 100).toFixed(1)} % up, ${(stats.loss_received * 100).toFixed(1)} % down`;
      }
      const echoes = game.echoes();
      for (let n = 0; n < echoes.length; n += 2) modes.add(now, echoes[n], echoes[n + 1]);
      MODES.forEach((mode, n) => {
        const median = modes.median(now, n);
        by_id(mode).textContent = median === undefined ? "" : `${median.toFixed(0)} ms`;
      });
    },
    draw: (now, style) => [rtt, loss, modes].forEach((chart) => chart.draw(now, style)),
  };
}

function listen() {
  const place = ({ clientX, clientY, pointerType }) => {
    const { left, top, width } = arena.getBoundingClientRect();
    const step = (ACROSS + 2 * EDGE) / width;
    pointer = { x: (clientX - left) * step - EDGE, y: (clientY - top) * step - EDGE };
    is_touch = pointerType !== "mouse";
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.code === "KeyB") let_bot(!is_bot);
    if (!(event.code in KEYS) && event.code !== "Space") return;
    if (event.target instanceof HTMLButtonElement && event.code === "Space") return;
    held.add(event.code);
    let_bot(false);
    event.preventDefault();
  });
  addEventListener("keyup", (event) => held.delete(event.code));
  addEventListener("blur", () => { held.clear(); is_pressed = false; });
  arena.addEventListener("pointermove", place);
  arena.addEventListener("pointerdown", (event) => {
    place(event);
    is_pressed = true;
    let_bot(false);
  });
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { is_pressed = false; });
  arena.addEventListener("pointerleave", () => { if (!is_pressed) pointer = undefined; });
  by_id("bot").addEventListener("click", () => let_bot(!is_bot));
}

function let_bot(yes) {
  is_bot = yes;
  by_id("bot").setAttribute("aria-pressed", String(yes));
}

function status(kind, words) {
  by_id("status").dataset.status = kind;
  by_id("status").textContent = words;
}

/** Where the server is, and by which certificate, as it says itself. */
async function where() {
  const { port, hash } = await (await fetch("place")).json();
  const bytes = Uint8Array.from(hash.match(/../g), (pair) => parseInt(pair, 16));
  return { url: `https://${location.hostname}:${port}/`, hashes: [bytes] };
}

async function play() {
  await init();
  const game = new Game(crypto.getRandomValues(new Uint8Array(32)));
  const link = new PorousLink(game, where, { onStatus: status });
  const measured = charts(game);
  let style = colours();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { style = colours(); });
  let [before, told] = [performance.now(), 0];
  const frame = (now) => {
    // The packets of the steps are stamped with the time of this call.
    link.pump();
    // A page that was hidden goes on from now.
    if (now - before > 250) before = now - TICK;
    const all = bodies(game.view());
    for (; now - before >= TICK; before += TICK) {
      if (is_bot) game.step_bot();
      else game.step(...wanted(all, game.you()));
    }
    link.pump();
    draw(all, game.you(), style);
    if (now - told > 200) {
      told = now;
      measured.measure(now);
      measured.draw(now, style);
      tell(game);
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  addEventListener("pagehide", () => link.close(0, 0));
  // A page that comes back from the browser's memory begins anew.
  addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });
  await link.open();
}

listen();
let_bot(is_bot);
play().catch((error) => status("unsupported", `This page does not work here: ${error.message}`));
