/** The words of a text, for long lists of plain names. */
export const words = (text: string): string[] => text.trim().split(/\s+/)
