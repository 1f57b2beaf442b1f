// Curves of the last half minute.

/** Milliseconds that a chart shows. */
const SPAN = 30_000;

/** Curves over time, each a list of values with their times and a colour of the page. */
export class Chart {
  #canvas; #least; #unit; #curves;

  /** `least` is the smallest value that the top of the chart stands for. */
  constructor(canvas, { least, unit, colours }) {
    this.#canvas = canvas;
    this.#least = least;
    this.#unit = unit;
    this.#curves = colours.map((colour) => ({ colour, points: [] }));
  }

  add(now, curve, value) {
    const { points } = this.#curves[curve];
    points.push([now, value]);
    while (points[0][0] < now - SPAN) points.shift();
  }

  /** The median of a curve's last seconds; `undefined` of one that has no values. */
  median(now, curve, span = 3000) {
    const recent = this.#curves[curve].points.filter(([at]) => at > now - span).map(([, value]) => value);
    return recent.sort((a, b) => a - b)[recent.length >> 1];
  }

  /** Each curve has a band of its own, of the same height. */
  draw(now, style) {
    const { pen, width, height } = fitted(this.#canvas);
    const shown = this.#curves.flatMap(({ points }) => points.filter(([at]) => at > now - SPAN));
    const top = nice(Math.max(this.#least, ...shown.map(([, value]) => value)));
    pen.clearRect(0, 0, width, height);
    pen.fillStyle = style.faint;
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "right";
    pen.fillText(`${top} ${this.#unit}`, width, 9);
    const band = (height - 14) / this.#curves.length;
    const x = (at) => width - ((now - at) / SPAN) * width;
    this.#curves.forEach(({ colour, points }, row) => {
      const bottom = 14 + band * (row + 1) - 1;
      const y = (value) => bottom - (value / top) * (band - 4);
      pen.strokeStyle = style.line;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(0, bottom);
      pen.lineTo(width, bottom);
      pen.stroke();
      pen.strokeStyle = style[colour];
      pen.lineWidth = 1.5;
      pen.beginPath();
      points.forEach(([at, value], n) => {
        // A gap where nothing came for a while.
        const is_gap = n === 0 || at - points[n - 1][0] > 1500;
        pen[is_gap ? "moveTo" : "lineTo"](x(at), y(value));
      });
      pen.stroke();
    });
  }
}

/** The next number upwards that is 1, 2 or 5 times a power of ten. */
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((digit) => digit * power).find((number) => number >= value * 0.999);
}

/** The pen of a canvas, whose pixels are those of the screen, and its size. */
export function fitted(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = devicePixelRatio || 1;
  const [across, down] = [width, height].map((length) => Math.round(length * scale));
  if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  return { pen, width, height };
}
