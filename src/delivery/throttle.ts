/** Calls `work` at once and then at most once in `ms`. */
export function throttled(ms: number, work: () => void) {
  let timer: Timer | undefined
  let isAgain = false
  function end(): void {
    timer = undefined
    if (isAgain) call()
  }
  function call(): void {
    isAgain = timer !== undefined
    if (isAgain) return
    work()
    timer = setTimeout(end, ms)
    timer.unref()
  }
  return { call, cancel: () => clearTimeout(timer) }
}
