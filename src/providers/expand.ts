import type { ConfigProblem } from '../core/problem.ts'
import type { Environment } from './environment.ts'

const VARIABLE = /\$\{([^}]*)\}/g
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Replaces `${NAME}` in every string of a settings value by the environment's. A name that is unset or blank is a
 * problem at its place. Keys of objects are left as they are.
 */
export function expandVariables(
  value: unknown,
  environment: Environment,
  path: string,
  problems: ConfigProblem[],
): unknown {
  if (typeof value === 'string') return expandText(value, environment, path, problems)
  if (Array.isArray(value)) {
    return value.map((item, index) => expandVariables(item, environment, `${path}[${index}]`, problems))
  }
  if (typeof value !== 'object' || value === null) return value
  const expanded: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    Object.defineProperty(expanded, key, {
      value: expandVariables(item, environment, `${path}.${key}`, problems),
      enumerable: true,
    })
  }
  return expanded
}

function expandText(text: string, environment: Environment, path: string, problems: ConfigProblem[]): string {
  return text.replace(VARIABLE, (whole, name: string) => {
    if (!NAME.test(name)) {
      problems.push({ path, message: '"${…}" must hold the name of one environment variable' })
      return whole
    }
    const value = environment[name]?.trim() ?? ''
    if (value === '') problems.push({ path, message: `the environment variable ${name} is not set` })
    return value
  })
}
