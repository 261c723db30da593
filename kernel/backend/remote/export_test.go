package remote

import "time"

// Impatient shortens the time after which a try of a bucket has stalled.
func Impatient(b *Bucket) { b.stall = 300 * time.Millisecond }

// Limit sets the size of a cache.
func Limit(c *Cache, max int64) { c.max = max }
