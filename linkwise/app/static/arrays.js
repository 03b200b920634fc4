// LWA1: magic, length of the header, header as JSON, arrays aligned to 8 bytes. Arrays are views, nothing is copied.
const KINDS = { i4: Int32Array, f4: Float32Array, i2: Int16Array, i1: Int8Array, u1: Uint8Array };

/** Read a message: its facts and its arrays by name. */
export function unpack(buffer) {
  const head = new DataView(buffer);
  if (buffer.byteLength < 8 || head.getUint32(0) !== 0x4c574131) throw new Error("The server sent something else than arrays.");
  const length = head.getUint32(4, true);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const arrays = {};
  for (const a of facts.arrays) arrays[a.name] = new KINDS[a.dtype](buffer, 8 + length + a.at, a.n);
  return { ...facts, ...arrays };
}

/** Children of a tree as lists in leaf order (counting sort, no recursion), and the leaf at every position. */
export function indexTree(tree) {
  const m = tree.parent.length,
    n = tree.n_leaves;
  const first = new Int32Array(m).fill(-1),
    next = new Int32Array(m).fill(-1),
    roots = [];
  const count = new Int32Array(n + 1),
    order = new Int32Array(m),
    leafAt = new Int32Array(n);
  for (let v = 0; v < m; v++) count[tree.start[v]]++;
  for (let i = 1; i <= n; i++) count[i] += count[i - 1];
  for (let v = m - 1; v >= 0; v--) order[--count[tree.start[v]]] = v;
  for (let i = m - 1; i >= 0; i--) {
    const v = order[i],
      p = tree.parent[v];
    if (p < 0) roots.push(v);
    else {
      next[v] = first[p];
      first[p] = v;
    }
  }
  for (let v = 0; v < n; v++) leafAt[tree.start[v]] = v;
  return Object.assign(tree, { first, next, roots: roots.reverse(), leafAt, stack: new Int32Array(m) });
}

/** Rows below a node, in the order of the tree. */
export const rowsBelow = (tree, v) => tree.leafAt.subarray(tree.start[v], tree.start[v] + tree.size[v]);

/** The smallest branch that holds a row and at least `size` leaves: the same branch after the tree has changed. */
export function branchAround(tree, row, size) {
  let v = row;
  while (tree.size[v] < size && tree.parent[v] >= 0) v = tree.parent[v];
  return v;
}

/** How many branches a vertical line at a height would cut. */
export function branchesAt(tree, height) {
  let found = 0;
  for (let v = 0; v < tree.parent.length; v++) {
    const p = tree.parent[v];
    if (tree.height[v] <= height && (p < 0 || tree.height[p] > height)) found++;
  }
  return found;
}
