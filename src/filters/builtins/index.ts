import { type Builtin, where } from './builtin.ts'
import { creditCard } from './credit-card.ts'
import { ipAddress } from './ip-address.ts'
import { personName } from './person-name.ts'
import { phone } from './phone.ts'
import { promptInjection } from './prompt-injection.ts'
import { secrets } from './secrets.ts'
import { ssn } from './ssn.ts'

/** `icon@2x.png` is a file. */
const FILE_ENDINGS = /\.(?:png|jpe?g|gif|svg|webp|css|js|ts|map|json|md|html?)$/i

const email: Builtin = {
  patterns: [
    String.raw`[\p{L}\p{N}._%+'-]*[\p{L}\p{N}_%+-]@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?\.(?:\p{L}{2,24}|xn--[A-Za-z0-9-]{2,59})`,
  ],
  refine: where((found) => !FILE_ENDINGS.test(found)),
}

const TYPES_EN =
  'Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Place|Pl|Square|Sq|Terrace|Way|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Close|Crescent|Row|Mews|Gardens'

/**
 * A heuristic: a house number with a street's name in the manner of English, German or French, or a post office box.
 * Places without a number, and streets whose names say nothing of a street (`221 Broadway`), are not found.
 */
const address: Builtin = {
  // No letter beyond ASCII here: Bun's printer writes it as an escape that String.raw keeps.
  patterns: [
    String.raw`\b\d{1,6}[A-Za-z]?,? (?:[NSEW]{1,2}\.? )?(?:(?:[A-Z][A-Za-z'\x{2019}.-]*|\d{1,3}(?:st|nd|rd|th)) ){1,4}(?:${TYPES_EN})\b(?:\.?,? (?:Apt|Apartment|Suite|Unit|Ste|Floor|#)\.? ?[\w-]+)?(?:,? [A-Z][A-Za-z. ]{1,30},? (?:[A-Z]{2},? \d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}))?`,
    String.raw`\p{Lu}[\p{L}.-]*(?:[sS]tra(?:\x{DF}|ss)e|[sS]tr\.|weg|platz|allee|gasse|ring|damm|ufer)[ ,]{1,2}\d{1,4} ?[a-z]?\b(?:,? (?:D-)?\d{5} \p{Lu}[\p{L}-]+)?`,
    String.raw`\p{Lu}[\p{L}-]+ (?:Stra\x{DF}e|Strasse|Str\.|Weg|Platz|Allee|Gasse|Ring|Damm|Ufer)[ ,]{1,2}\d{1,4} ?[a-z]?\b(?:,? (?:D-)?\d{5} \p{Lu}[\p{L}-]+)?`,
    String.raw`\b\d{1,4}(?: ?(?:bis|ter))?,? (?i:rue|avenue|boulevard|bd|place|chemin|all\x{E9}e|impasse|quai) (?:(?:de la|de l['\x{2019}]|de|du|des|d['\x{2019}]|la|le|les) ?)?\p{Lu}[\p{L}'\x{2019}-]+(?: \p{Lu}[\p{L}'\x{2019}-]+){0,3}(?:,? \d{5} \p{Lu}[\p{L}-]+)?`,
    String.raw`(?i:\bP\.? ?O\.? Box \d{1,7}\b|\bPostfach \d[\d ]{1,8}\b)`,
  ],
}

export type Builtins = Readonly<Record<string, Builtin>>

/** By slug. Names of people are not among them: no pattern distinguishes them from other words. */
export const builtins: Builtins = {
  email,
  phone,
  ssn,
  'credit-card': creditCard,
  'ip-address': ipAddress,
  secrets,
  address,
  'regex-prompt-injection': promptInjection,
}

/** With names of people, if the settings name a list. */
export const builtinsWith = (names: readonly string[]): Builtins =>
  names.length === 0 ? builtins : { ...builtins, 'person-name': personName(names) }
