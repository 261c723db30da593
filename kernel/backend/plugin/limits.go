package plugin

import (
	"time"

	"antipode/internal/fetch"
)

// limits are the timeouts of each step.
type limits struct {
	fetch.Limits
	wheel    time.Duration // the wheel, from the first request to the unpacked plugin
	goxla    time.Duration // go-xla's installer, CPU
	goxlaGPU time.Duration // go-xla's installer, with CUDA and NVIDIA's libraries
	probe    time.Duration // loading a plugin for the first time
}

var usual = limits{Limits: fetch.Usual, wheel: 20 * time.Minute, goxla: 5 * time.Minute, goxlaGPU: 30 * time.Minute,
	probe: 90 * time.Second}
