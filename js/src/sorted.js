/** Finding a place in what is in order, by halves. Pure. */

/**
 * @param {number} end @param {number} from @param {(at: number) => boolean} isBeyond false, then true
 * @returns {number} the first number from `from` on that is beyond; `end` where none is
 */
export function firstBeyond(end, from, isBeyond) {
  let low = from;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBeyond(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The index of the first value that is at least this one. @param {ArrayLike<number>} sorted @param {number} value */
export const lowerBound = (sorted, value) => firstBeyond(sorted.length, 0, (at) => sorted[at] >= value);
