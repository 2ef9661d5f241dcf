"""Recordings of what judges were asked and what they answered.

Read in this order: `exchange` (one line of a cassette), `key` (what makes two requests the same),
`credentials` (which values are secret),
`scrubbing` (what is never written), `bodies` (bytes on the wire to text in a file), `journal`
(lines to files and back), `recordings` (finding one exchange among many), `staleness` (why one was
not found), `scope` (which trial is asking), `offline` (no connection while replaying), `pools`
(urllib3), `locking` (one recorder at a time), `tape` (all of it together, and the only door to
vcrpy), `interchange` (the files of vcrpy and of batches), `checking` (secrets in old recordings).
"""
