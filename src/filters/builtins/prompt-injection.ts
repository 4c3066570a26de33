import type { Builtin } from './builtin.ts'

const RULES =
  '(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|commands?|constraints?|programming|training)'
const UNBOUND =
  '(?:restrictions?|rules?|guidelines?|filters?|limits?|limitations?|constraints?|censorship|ethics|morals?|safeguards?)'

/**
 * A heuristic for sentences that try to take a model away from its instructions, in English. It knows what many of
 * them say; one that is put otherwise, encoded or written in another language passes.
 */
export const promptInjection: Builtin = {
  patterns: [
    String.raw`(?i:\b(?:ignore|disregard|forget|override|bypass|discard|neglect)\s+(?:(?:all|any|every|each|the|your|my|our|of|these|those|what|whatever)\s+){0,4}(?:previous|prior|above|earlier|preceding|foregoing|existing|original|system|initial|past|safety|current)\s+(?:[\w-]+\s+){0,2}${RULES}\b)`,
    String.raw`(?i:\b(?:ignore|disregard|forget|override|discard)\s+(?:(?:all|any)\s+)?(?:of\s+)?(?:your|the system's|the developer's)\s+(?:[\w-]+\s+){0,2}${RULES}\b)`,
    String.raw`(?i:\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|what)\s+(?:(?:that\s+)?(?:you\s+(?:were|have\s+been|know|learned)|was\s+(?:said|written)|i\s+said|came)(?:\s+(?:told|taught|instructed|before|above))?|above|before\s+this|you've\s+been\s+told)\b)`,
    String.raw`(?i:\byou\s+are\s+(?:now|no\s+longer)\s+(?:(?:in\s+)?(?:dan\b|developer\s+mode|god\s+mode|jailbroken|unrestricted|unfiltered|uncensored|free\s+from|bound\s+by)|an?\s+(?:unrestricted|unfiltered|uncensored|jailbroken|evil|amoral)))`,
    String.raw`(?i:\b(?:reveal|show|print|repeat|output|display|dump|leak|expose|tell\s+me|give\s+me|what\s+(?:is|was|are))\s+(?:me\s+)?(?:(?:all|of)\s+)*(?:your|the)\s+(?:(?:full|entire|exact|hidden|secret|original|initial|complete|confidential|internal)\s+){0,3}(?:system\s+(?:prompt|message|instructions?)|initial\s+(?:prompt|instructions?)|(?:hidden|secret|internal|original)\s+(?:prompt|instructions?|rules)))`,
    String.raw`(?i:\b(?:repeat|print|output|copy)\s+(?:everything|all(?:\s+the)?\s+(?:text|words)|the\s+(?:text|words))\s+(?:above|before\s+this))`,
    String.raw`(?i:\bdo\s+anything\s+now\b|\bDAN\s+(?:mode|prompt)\b|\bjailbreak\s+mode\b|\b(?:developer|debug|god|sudo|admin)\s+mode\s+(?:is\s+)?(?:now\s+)?(?:enabled|activated|on)\b|\b(?:enable|enter|activate|switch\s+to)\s+(?:developer|god|jailbreak|sudo|unrestricted|DAN)\s+mode\b)`,
    String.raw`(?i:\b(?:pretend|act|behave|respond|answer|imagine)\s+(?:(?:that|as\s+if|as\s+though|like)\s+)?(?:you\s+)?(?:have|had|are|were|with)?\s*(?:no|without|not\s+bound\s+by|free\s+(?:of|from))\s+(?:any\s+)?(?:(?:ethical|safety|moral|content|usual)\s+)?${UNBOUND}\b)`,
    String.raw`(?i:\bwithout\s+(?:any\s+)?(?:ethical|moral|safety|content)\s+${UNBOUND}\b)`,
    String.raw`(?i:\b(?:new|updated|real|actual)\s+(?:system\s+)?(?:instructions?|prompt|directive)s?\s*:|\bsystem\s+(?:override|prompt\s+update)\b)`,
    String.raw`<\|(?:im_start|start_header_id)\|>\s*system|\[/?INST\]|<</?SYS>>|(?i:(?:^|\n)\s*#{2,}\s*(?:new\s+)?(?:system|instructions?)(?:\s+(?:prompt|message))?\s*:)`,
    String.raw`(?i:\byour\s+(?:new|true|real)\s+(?:task|goal|purpose|instructions?|role)\s+(?:is|are)\s+(?:now\s+)?to\b|\bfrom\s+now\s+on,?\s+you\s+(?:will|must|shall)\s+(?:only\s+)?(?:obey|ignore|disregard|answer\s+without|act\s+as\s+(?:dan|an?\s+un)))`,
    String.raw`(?i:\bdo\s+not\s+(?:follow|obey|listen\s+to)\s+(?:(?:any|the|your|of|all)\s+){0,3}(?:(?:previous|prior|above|earlier|system|original|safety)\s+)+${RULES}\b)`,
  ],
}
