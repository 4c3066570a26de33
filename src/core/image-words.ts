import { words } from './words.ts'

/** The words of the options of images. */
export const IMAGE_RATIOS = words(`
  1:1 1:2 1:4 1:8 2:1 2:3 2.35:1 3:2 3:4 4:1 4:3 4:5 5:2 5:4 8:1 9:16 16:9 9:19.5 19.5:9 9:20
  20:9 9:21 21:9 auto
`)
export const IMAGE_RESOLUTIONS = ['512', '1K', '2K', '4K'] as const
export const IMAGE_QUALITIES = ['auto', 'low', 'medium', 'high', 'xhigh', 'max', 'standard', 'hd'] as const
export const BACKGROUNDS = ['auto', 'transparent', 'opaque'] as const
export const IMAGE_FORMATS = ['png', 'jpeg', 'webp', 'svg'] as const
