/** Anchors of headings as GitHub makes them: lower case, no punctuation, hyphens, a number for a repeated one. */
export function slugger(): (heading: string) => string {
  const seen = new Map<string, number>()
  return (heading) => {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
}
