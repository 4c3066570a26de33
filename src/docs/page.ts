export interface Heading {
  readonly id: string
  readonly text: string
}

export interface Page {
  /** Below `/docs/`: `quick-start`, `reference/settings`. */
  readonly path: string
  readonly group: string
  readonly title: string
  /** The paragraph after the title, as text. */
  readonly summary: string
  readonly html: string
  /** Headings of the second level. */
  readonly headings: readonly Heading[]
}

/** A part of a page, as the search finds it. */
export interface Section {
  /** Below `/docs/`, with the anchor. */
  readonly at: string
  readonly page: string
  readonly heading: string
  readonly text: string
}

/** In the order of the navigation. Links begin with `/docs`. */
export interface Site {
  readonly pages: readonly Page[]
  readonly sections: readonly Section[]
}
