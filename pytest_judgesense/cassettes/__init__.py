"""Recordings of what judges were asked and what they answered.

Read in this order: `exchange` (the value and its line), `bodies` (bytes on the wire to text),
`credentials` (which values are secret), `redaction` (what is never written), `storage` (lines to
files and back), `matching` (finding one exchange among many, and why there is none), `scope` (which
trial is asking), `offline` (no connection while replaying), `cassette` (all of it together),
`interception` (other people's clients; the only door to vcrpy), `locking` (one recorder at a time).
Beside them: `merging` (one recording of several), `interchange` (files of vcrpy and of batches) and
`checking` (secrets in old recordings).
"""
