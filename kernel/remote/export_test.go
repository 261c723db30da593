package remote

import "time"

// Hurry shortens the pauses of a bucket.
func Hurry(b *Bucket) { b.pause = time.Millisecond }

// HurryStore shortens the pauses of a store.
func HurryStore(s *Store) { Hurry(s.bucket) }

// Impatient shortens the time after which a try of a bucket has stalled.
func Impatient(b *Bucket) { b.stall = 300 * time.Millisecond }

// Limit sets the size of a cache.
func Limit(c *Cache, max int64) { c.max = max }
