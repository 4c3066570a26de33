import type { JsonObject } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import type { Message, ToolCall } from '../../core/request.ts'
import { isSealedSignature, unsealDetails } from './sealed.ts'
import { callExtra, FOREIGN_CALL, signatureDetail, thoughtDetail } from './signatures.ts'

/** The thoughts of one turn of the model: what the writer of this dialect made of reasoning details, undone. */
export interface Thoughts {
  addThought(text: string, signature: string): void
  /** A signature on a text, or on an empty one. */
  addLoose(signature: string): void
  /** Of a call; answers what the call itself carries. */
  addCall(id: string, signature: string): Pick<ToolCall, 'extra'>
  read(): Pick<Message, 'reasoning' | 'reasoningDetails'>
}

/**
 * | part | detail |
 * |---|---|
 * | a signature that the gateway sealed, wherever it stands | the details in it, once |
 * | a thought with a signature of Google's | its text, and the signature |
 * | a call or a text with a signature of Google's | the signature |
 * | a thought without a signature | text alone |
 *
 * What was sealed holds all thoughts of the turn, texts included: the thoughts beside it are the same once more.
 */
export function createThoughts(): Thoughts {
  const own: JsonObject[] = []
  const sealed: JsonObject[] = []
  const seen = new Set<string>()
  const texts: string[] = []

  function unseal(signature: string): void {
    if (seen.has(signature)) return
    seen.add(signature)
    sealed.push(...unsealDetails(signature))
  }

  function add(signature: string, callId?: string): boolean {
    if (signature === '' || signature === FOREIGN_CALL) return false
    if (isSealedSignature(signature)) unseal(signature)
    else own.push(signatureDetail(signature, callId))
    return !isSealedSignature(signature)
  }

  return {
    addThought(text, signature) {
      if (text !== '') texts.push(text)
      if (signature !== '' && !isSealedSignature(signature) && text !== '') own.push(thoughtDetail(text))
      add(signature)
    },
    addLoose(signature) {
      add(signature)
    },
    addCall: (id, signature) => (add(signature, id) ? { extra: callExtra(signature) } : {}),
    read() {
      const details = [...sealed, ...own]
      const reasoning = texts.length > 0 ? texts.join('') : sealed.map(textIn).join('')
      return {
        ...(reasoning === '' ? {} : { reasoning }),
        ...(details.length === 0 ? {} : { reasoningDetails: details }),
      }
    },
  }
}

const textIn = ({ text, summary }: JsonObject): string => {
  const said = text ?? summary
  return isString(said) ? said : ''
}
