/** Answers a text with itself in upper case; "spin" never ends, "throw" fails, "bad" gives no text. */
self.onmessage = ({ data }: MessageEvent<string>) => {
  if (data === 'throw') throw new Error('thrown on purpose')
  while (data === 'spin');
  self.postMessage(data === 'bad' ? 1 : data.toUpperCase())
}
