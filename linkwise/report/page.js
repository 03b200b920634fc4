// Finds samples by name and shows where they stand in the tree; dims the drawings to one cluster while it is pointed at.
(() => {
  const drawings = document.querySelectorAll("figure svg");
  const focus = (label) => {
    for (const drawing of drawings) {
      drawing.classList.toggle("focus", label !== null);
      for (const path of drawing.querySelectorAll(".branches path, .dots path")) path.classList.toggle("on", path.dataset.cluster === label);
    }
  };
  for (const row of document.querySelectorAll("article[data-cluster], .strip rect, .dots path")) {
    row.addEventListener("pointerenter", () => focus(row.dataset.cluster));
    row.addEventListener("pointerleave", () => focus(null));
  }
  const svg = document.querySelector("#drawing svg");
  const box = document.querySelector("#find");
  if (!svg || !box) return;
  const names = JSON.parse(document.querySelector("#names").textContent);
  const clusters = JSON.parse(document.querySelector("#labels").textContent);
  const pins = svg.querySelector(".pins");
  const said = document.querySelector("#found");
  const { left, step, floor } = svg.dataset;
  const draw = (tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    pins.append(element);
  };
  box.addEventListener("input", () => {
    pins.replaceChildren();
    const wanted = box.value.trim().toLowerCase();
    if (!wanted) { said.textContent = ""; return; }
    const exact = names.flatMap((name, slot) => (name.toLowerCase() === wanted ? [slot] : []));
    const found = exact.length ? exact : names.flatMap((name, slot) => (name.toLowerCase().includes(wanted) ? [slot] : []));
    for (const slot of found.slice(0, 60)) {
      const x = Number(left) + (slot + 0.5) * Number(step);
      draw("path", { d: `M${x} ${floor}v-26` });
      draw("circle", { cx: x, cy: Number(floor) - 28, r: 3.5 });
    }
    const shown = found.slice(0, 6).map((slot) => `${names[slot]} (cluster ${clusters[slot]})`).join(", ");
    said.textContent = found.length ? shown + (found.length > 6 ? ` and ${found.length - 6} more` : "") : "no sample has this in its name";
  });
})();
