import { type Builtin, where } from './builtin.ts'

/** `icon@2x.png` is a file. */
const FILE_ENDINGS = /\.(?:png|jpe?g|gif|svg|webp|css|js|ts|map|json|md|html?)$/i

export const email: Builtin = {
  patterns: [
    String.raw`[\p{L}\p{N}._%+'-]*[\p{L}\p{N}_%+-]@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?\.(?:\p{L}{2,24}|xn--[A-Za-z0-9-]{2,59})`,
  ],
  refine: where((found) => !FILE_ENDINGS.test(found)),
}
