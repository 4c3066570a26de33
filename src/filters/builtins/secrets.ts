import { type Builtin, where } from './builtin.ts'

/** Formats that issuers document or that their keys plainly have, as of November 2026. */
const FORMATS = [
  // Model providers: OpenAI, Anthropic, OpenRouter, DeepSeek …; Groq, xAI, Hugging Face, Replicate, Perplexity, NVIDIA.
  String.raw`\bsk-[A-Za-z0-9][A-Za-z0-9_-]{18,}`,
  String.raw`\b(?:gsk_|xai-|hf_|r8_|pplx-|nvapi-|csk-|fw_)[A-Za-z0-9_-]{20,}`,
  // Google: API keys, OAuth secrets and tokens.
  String.raw`\bAIza[0-9A-Za-z_-]{35}`,
  String.raw`\bGOCSPX-[0-9A-Za-z_-]{28}`,
  String.raw`\bya29\.[0-9A-Za-z_-]{20,}`,
  // Amazon: key ids, and secrets next to their name.
  String.raw`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`,
  String.raw`(?i:aws_?secret_?(?:access_?)?key)["']?\s{0,3}[:=]\s{0,3}["']?[A-Za-z0-9/+=]{40}`,
  // Azure storage and buses.
  String.raw`\b(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{42,88}={0,2}`,
  // Code hosts and registries.
  String.raw`\bgh[pousr]_[A-Za-z0-9]{36,255}`,
  String.raw`\bgithub_pat_[A-Za-z0-9_]{40,255}`,
  String.raw`\bgl(?:pat|dt|rt|ptt|soat|cbt)-[A-Za-z0-9_-]{20,}`,
  String.raw`\bATBB[A-Za-z0-9]{32}\b`,
  String.raw`\bnpm_[A-Za-z0-9]{36}\b`,
  String.raw`\bpypi-[A-Za-z0-9_-]{50,}`,
  // Services.
  String.raw`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,
  String.raw`\bhooks\.slack\.com/services/T[A-Za-z0-9_]+/B[A-Za-z0-9_]+/[A-Za-z0-9_]+`,
  String.raw`\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}`,
  String.raw`\bwhsec_[A-Za-z0-9+/]{32,}`,
  String.raw`\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}`,
  String.raw`\b(?:SK|AC)[0-9a-f]{32}\b`,
  String.raw`\bkey-[0-9a-f]{32}\b`,
  String.raw`\bdo[opr]_v1_[0-9a-f]{64}\b`,
  String.raw`\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b`,
  String.raw`\bdapi[0-9a-f]{32}\b`,
  String.raw`\bhv[sb]\.[A-Za-z0-9_-]{24,}`,
  String.raw`\b\d{8,10}:AA[A-Za-z0-9_-]{33}\b`,
  // Tokens and keys of no one issuer.
  String.raw`\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`,
  String.raw`-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|-[^-])*-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\n){0,4}[A-Za-z0-9+/=]{40,})*)`,
  // Addresses with a password.
  String.raw`\b[a-z][a-z0-9+.-]*://[^\s:/@"']*:[^\s/@"']{3,}@[^\s/@"']+`,
]

const LEAST_CHARACTERS = 7

/** `sk-xxxxxxxxxxxxxxxxxxxx`, `sk-your-api-key-goes-here` and `postgres://user:<password>@host` are placeholders. */
export const secrets: Builtin = {
  patterns: FORMATS,
  refine: where((found) => {
    const url = /^[a-z][a-z0-9+.-]*:\/\/[^:]*:([^@]*)@/.exec(found)
    if (url) return !/^[<{$[*]|^(?:pass(?:word)?|pwd|secret|x+|\.+)$/i.test(url[1] ?? '')
    if (found.startsWith('sk-') && !/\d/.test(found)) return false
    return new Set(found).size >= LEAST_CHARACTERS && !/(?:your|example|placeholder)[-_]/i.test(found)
  }),
}
