/** A wire format; see `dialects/`. */
export type DialectName = 'chat' | 'responses' | 'messages' | 'gemini' | 'converse' | 'cohere'
