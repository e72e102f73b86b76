import { useLayoutEffect, useState, useSyncExternalStore } from 'react'
import { Transcript } from './transcript'

/** The transcript of a session, opened at `sequence` or its end and followed while it is shown. */
export function useTranscript(id: string, sequence: number | null): Transcript {
  const [made, setMade] = useState(() => new Transcript(id))
  const transcript = made.id === id ? made : new Transcript(id)
  if (transcript !== made) setMade(transcript)
  useSyncExternalStore(transcript.subscribe, transcript.snapshot)
  // Before anything is painted: the answer may be there already.
  // biome-ignore lint/correctness/useExhaustiveDependencies: where it opens counts at first; later changes are jumps.
  useLayoutEffect(() => {
    void transcript.open(sequence)
    return () => transcript.close()
  }, [transcript])
  return transcript
}
