import { Download } from 'lucide-react'
import { useState } from 'react'
import type { Media } from '../graphql/documents'
import { Failure } from '../interface/Failure'
import { counted, size } from '../interface/format'
import { useTrouble } from '../interface/media'
import { Picture } from '../interface/Picture'
import { visible } from '../interface/visible'

/** So many are shown at once; more when asked for. */
const AT_ONCE = 24

/** What a block says of its bytes; what was not recorded has no address. */
type File = { [Name in keyof Media]: Media[Name] | null }

/** The pictures, sounds and other bytes of a content that is shown by lines, by their addresses. */
export function MediaFiles({ files }: { files: readonly Media[] }) {
  const [shown, setShown] = useState(AT_ONCE)
  return (
    <>
      {files.slice(0, shown).map((file) => (
        <MediaFile key={file.url} file={file} />
      ))}
      {shown < files.length && (
        <button type="button" className="more" onClick={() => setShown(shown + AT_ONCE)}>
          Show more of {counted(files.length, 'file')}
        </button>
      )}
    </>
  )
}

function MediaFile({ file }: { file: Media }) {
  if (file.mimeType.startsWith('image/')) return <PictureFile file={file} />
  if (file.mimeType.startsWith('audio/')) return <Sound file={file} />
  return (
    <div className="resource">
      <span className="quiet">{nameOf(file, 'file')}</span>
      <a href={file.url} download className="button">
        <Download size={14} aria-hidden /> Download
      </a>
    </div>
  )
}

/** A picture and what it is. */
export function PictureFile({ file, sourceUri = null }: { file: File; sourceUri?: string | null }) {
  const name = nameOf(file, 'image')
  return (
    <figure className="picture">
      {file.url ? (
        <Picture
          url={file.url}
          name={`From the tool: ${name}`}
          otherwise={
            <a href={file.url} download>
              Download it{file.size === null ? '' : `, ${size(file.size)}`}
            </a>
          }
        />
      ) : (
        <p className="note">The picture itself was not recorded.</p>
      )}
      <figcaption>
        {name}
        {sourceUri && <code>{visible(sourceUri)}</code>}
      </figcaption>
    </figure>
  )
}

/** A sound, of which nothing is loaded before it is played. */
export function Sound({ file }: { file: File }) {
  const name = nameOf(file, 'sound')
  return (
    <figure className="picture">
      {file.url ? (
        <Player url={file.url} name={name} />
      ) : (
        <p className="note">The sound itself was not recorded.</p>
      )}
      <figcaption>{name}</figcaption>
    </figure>
  )
}

function Player({ url, name }: { url: string; name: string }) {
  const { trouble, retry, element } = useTrouble(url, false)
  if (trouble === 'damaged') {
    return (
      <p className="note">
        The sound cannot be played: its data may be damaged, or of a kind that the browser does not know.{' '}
        <a href={url} download>
          Download it
        </a>
      </p>
    )
  }
  if (trouble) return <Failure reason={`The sound could not be loaded. ${trouble.reason}`} retry={retry} />
  return <audio {...element} controls preload="none" aria-label={`From the tool: ${name}`} />
}

function nameOf(file: File, otherwise: string): string {
  const kind = visible(file.mimeType ?? otherwise)
  return file.size === null ? kind : `${kind}, ${size(file.size)}`
}
