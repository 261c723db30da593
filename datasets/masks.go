package datasets

import (
	"cmp"
	"fmt"
	"math"

	"antipode/datasets/mask"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/objecturl"
)

func init() { operation.Verb("grow-masks", growMasks) }

// MasksArgs are the arguments of [Table.MasksFrom].
type MasksArgs struct {
	Dir string `json:"dir"`
	MasksOptions
}

// MasksOptions are the options of [Table.MasksFrom].
type MasksOptions struct {
	MaskThreshold float64 `json:"mask_threshold,omitempty" min:"0" max:"1" help:"see FileOptions"`
}

// MasksFrom adds the column mask from a folder of mask images; [mask.Read] describes how they are read. The mask of an
// image is the file with the image's path: with as many of the folders above the image as the folder of the masks has
// (photos/Kenya/1.jpg: Kenya/1.png), else that of its id, else the only one with the image's name in the folder or its
// subfolders. Names may have the image's extension before their own (1.jpg.png); of several formats PNG is read. The
// table's images are not masks. A name that fits several images or masks is an error of the row. A row without a mask
// file has no mask, outcome "unmasked" and the reason. Rows that are refused, failed or skipped remain so, without a
// mask; one that is unmasked already keeps its reason if no file has its mask. The folder may be the URL of a prefix,
// such as s3://BUCKET/MASKS.
func (t Table) MasksFrom(dir string, options ...MasksOptions) Table {
	o, err := table.One(options)
	if err == nil {
		err = operation.OptionsOf[MasksOptions]().Check(&o)
	}
	abs, failed := objecturl.Resolve(dir)
	if err = cmp.Or(err, failed); err != nil {
		return t.failed(fmt.Errorf("MasksFrom: %w", err))
	}
	return t.need("id", table.KindText).need("image", table.KindImage).derive("masks", MasksArgs{abs, o},
		Columns("mask:mask", "outcome:text", "reason:text")...)
}

// growArgs are the arguments of [Table.GrowMasks].
type growArgs struct {
	Pixels float64 `json:"pixels"`
}

// GrowMasks dilates the masks by a disc of so many pixels of the image, or erodes them if pixels is negative (see
// [mask.Bitmap.Grow]). A score that changes much with masks a few pixels larger or smaller depends on where the
// segmentation draws the border. mask_area follows; an image whose mask is eroded away becomes unmasked with that
// reason. Rows without a mask remain as they are. The table needs the column mask; pixels must be finite and not 0.
func (t Table) GrowMasks(pixels float64) Table {
	if pixels == 0 || math.IsNaN(pixels) || math.IsInf(pixels, 0) {
		return t.failed(fmt.Errorf("GrowMasks: %v pixels: give the radius, above 0 to dilate, below 0 to erode",
			pixels))
	}
	return t.need("mask", table.KindMask).derive("grow-masks", growArgs{pixels},
		Columns("mask:mask", "mask_area:number", "outcome:text", "reason:text")...)
}

func growMasks(_ *Call, a growArgs, in []*Frame) (*Frame, error) {
	f := in[0]
	c, err := f.Need("mask", table.KindMask)
	if err != nil {
		return nil, err
	}
	n := f.Len()
	masks, area := make([]table.Mask, n), make([]float64, n)
	outcome, reason := make([]string, n), make([]string, n)
	copy(outcome, f.Texts("outcome"))
	copy(reason, f.Texts("reason"))
	for i, m := range c.Masks {
		if area[i] = math.NaN(); m.Counts == "" {
			if earlier := f.Numbers("mask_area"); earlier != nil {
				area[i] = earlier[i]
			}
			continue
		}
		b, err := mask.Decode(m)
		if err != nil {
			return nil, table.BadRow{Row: i + 1, Column: "mask", Reason: err.Error()}
		}
		b = b.Grow(a.Pixels)
		area[i] = float64(b.Area()) / float64(max(b.Width*b.Height, 1))
		if area[i] > 0 {
			masks[i] = mask.Encode(b)
		} else {
			outcome[i], reason[i] = "unmasked", fmt.Sprintf("erosion by %g px leaves no object pixel", -a.Pixels)
		}
	}
	return f.With(table.MaskColumn("mask", masks), table.NumberColumn("mask_area", area),
		table.TextColumn("outcome", outcome), table.TextColumn("reason", reason)), nil
}
