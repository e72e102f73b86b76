// Writes a brotli and a gzip form beside each file of dist that a browser loads, for the server to
// send as they are. A form that saves less than a tenth is left out.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const assets = new URL('dist/assets/', import.meta.url)
const text = /\.(css|js|svg|ttf)$/
const forms = {
  br: (data) =>
    promisify(brotliCompress)(data, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: data.length },
    }),
  gz: (data) => promisify(gzip)(data, { level: 9 }),
}

async function compress(name) {
  const data = await readFile(new URL(name, assets))
  for (const [suffix, encode] of Object.entries(forms)) {
    const encoded = await encode(data)
    if (encoded.length < 0.9 * data.length) await writeFile(new URL(`${name}.${suffix}`, assets), encoded)
  }
}

const names = (await readdir(assets)).filter((name) => text.test(name))
await Promise.all(names.map(compress))
console.log(`compressed ${names.length} files`)
