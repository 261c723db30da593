package diffusion

import (
	"fmt"
	"regexp"
	"strconv"
)

// defaultSide is the side of the latents of a 1.x model.
const defaultSide = 64

// releaseForm matches the release number at the start of a version: 0.9.0.dev0 is of the release 0.9.0.
var releaseForm = regexp.MustCompile(`^v?([0-9]+)(?:\.([0-9]+))?`)

// sampleSize returns the sides of the latents that a pipeline generates by default, height first. diffusers replaces
// a sample_size below 64 that a release before 0.9 wrote by 64: these recorded a wrong number. It leaves one that
// states no release.
func (c *UNetConfig) sampleSize() (height, width int, corrected bool) {
	s := c.SampleSize
	if len(s) == 0 || s[0] == 0 { // missing or null
		return defaultSide, defaultSide, false
	}
	if of := releaseForm.FindStringSubmatch(c.Version); len(s) == 1 && s[0] < defaultSide && of != nil {
		major, _ := strconv.Atoi(of[1]) // out of range: no release before 0.9
		minor, _ := strconv.Atoi(of[2])
		if major == 0 && minor < 9 {
			return defaultSide, defaultSide, true
		}
	}
	return s[0], s[len(s)-1], false
}

// Size is the size of images that the model generates by default, in pixels: 512 for 1.x, 768 for most of 2.x. It is
// unet/config.json's sample_size, as [Model.Corrections] reports it, times the autoencoder's factor.
func (m *Model) Size() (width, height int) {
	height, width, _ = m.unet.sampleSize()
	return width * m.vae.Factor(), height * m.vae.Factor()
}

// Corrections lists options of the folder that are read as other values than those it states, as diffusers does, and
// what was decided about a single file ([OpenFile]). A digest of the model must cover them besides [Model.Files].
func (m *Model) Corrections() (list []string) {
	list = append(list, m.notes...)
	if side, _, corrected := m.unet.sampleSize(); corrected {
		list = append(list, fmt.Sprintf("unet/config.json: sample_size %d, written by diffusers %s, is read as %d",
			m.unet.SampleSize[0], m.unet.Version, side))
	}
	return list
}
