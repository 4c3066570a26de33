import { isString } from '../../core/json.ts'
import { oneTextTool } from '../description.ts'
import type { ServerTool } from '../tool.ts'
import { evaluate } from './evaluate.ts'

/** Enough for every result whose last digits mean something: 0.1 + 0.2 is 0.3. */
const DIGITS = 15

/** Arithmetic that models get wrong. */
export const calculator: ServerTool = {
  name: 'calculator',
  describe: () =>
    oneTextTool(
      'Evaluates an arithmetic expression exactly, such as (3.5 + 2) * sqrt(16) ^ 2.',
      'expression',
      'Numbers, + - * / % ^, brackets, pi, e, and functions such as sqrt, ln, log, sin, round, max',
    ),
  async run({ expression }) {
    if (!isString(expression)) throw new Error('expression must be a text such as "2 * (3 + 4)"')
    const result = String(Number(evaluate(expression).toPrecision(DIGITS)))
    return { text: result, item: { expression, result } }
  },
}
