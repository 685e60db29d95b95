// Whether this device has the memory for an interpreter that is only kept for later.

const ENOUGH = 4; // GB, as browsers tell it (rounded, and never more than 8)

/** True where a spare interpreter, some 40 MB, is kept warm: not on phones and tablets, nor on small machines. */
export function roomForSpare({ deviceMemory, userAgent, userAgentData, maxTouchPoints = 0 } = navigator) {
  if (userAgentData?.mobile || /Android|iPhone|iPad|iPod|Mobile/.test(userAgent)) return false;
  if (/Macintosh/.test(userAgent) && maxTouchPoints > 1) return false; // an iPad that calls itself a Mac
  return (deviceMemory ?? ENOUGH) >= ENOUGH;
}
