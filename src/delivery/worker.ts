import type { ToWorker } from './messages.ts'
import { openDelivery } from './thread.ts'

/** An entry point of its own, because it runs in a thread of its own. */
const delivery = openDelivery((message) => self.postMessage(message))
self.onmessage = ({ data }: MessageEvent<ToWorker>) => delivery.receive(data)
