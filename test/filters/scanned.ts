import type { ContentFilters, FilterMatch, ScanBudget } from '../../src/core/content-filter.ts'
import { finished } from '../../src/filters/budget.ts'

/** What filters of both purposes find in a text of a user, without pauses. */
export const scanned = (filters: ContentFilters, text: string, budget: ScanBudget): FilterMatch[] => [
  ...finished(filters.scan(text, true, 'rewriting', budget)),
  ...finished(filters.scan(text, true, 'recording', budget)),
]
