// Colors of clusters: those of linkwise's pictures, so that screen, report and plots agree (a test compares them).
const FIRST = ["#2f6db5", "#e08a1e", "#1b9e77", "#b8559a", "#69a9d8", "#c4532a", "#7d6bb3", "#8a8a2e", "#d98ba8", "#4f7f7a"];
const GOLDEN_ANGLE = 0.381966;
export const NO_CLUSTER = "#6b7280";
const known = new Map();

function hex(hue, light, strong) {
  const top = light <= 0.5 ? light * (1 + strong) : light + strong - light * strong,
    low = 2 * light - top;
  const part = (at) => {
    const t = ((at % 1) + 1) % 1;
    const value = t < 1 / 6 ? low + (top - low) * t * 6 : t < 0.5 ? top : t < 2 / 3 ? low + (top - low) * (2 / 3 - t) * 6 : low;
    return roundEven(value * 255)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(hue + 1 / 3)}${part(hue)}${part(hue - 1 / 3)}`;
}
const roundEven = (v) => (Math.abs(v % 1) === 0.5 ? 2 * Math.round(v / 2) : Math.round(v));

/** The color of cluster `label` as #rrggbb; -1 means no single cluster. */
export function clusterColor(label) {
  if (label < 0) return NO_CLUSTER;
  if (label < FIRST.length) return FIRST[label];
  if (!known.has(label)) {
    const turn = label - FIRST.length;
    known.set(label, hex((0.07 + turn * GOLDEN_ANGLE) % 1, [0.42, 0.55, 0.48][turn % 3], 0.5));
  }
  return known.get(label);
}

function luminance(color) {
  const linear = [1, 3, 5]
    .map((i) => parseInt(color.slice(i, i + 2), 16) / 255)
    .map((p) => (p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

/** White or near-black, whichever can be read on a color. */
export const textOn = (color) => (1.05 / (luminance(color) + 0.05) >= (luminance(color) + 0.05) / 0.0556 ? "#ffffff" : "#111111");

/** A color of the page's style sheet by name, for canvases. */
export const pageColor = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
