package weights

import (
	"errors"
	"fmt"

	"antipode/gomlxmodels/weights/pickle"
)

// legacyMagic begins what torch wrote before version 1.6: a pickle of its magic number.
const legacyMagic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."

var errLegacy = errors.New("torch file of before version 1.6: its header is damaged. Fix: download the file again")

// readLegacy reads five pickles in a row (magic number, protocol version, system, object, list of the storages' keys)
// and finds the storages behind them: for each key int64 numel, and the bytes.
func (t *torchFile) readLegacy() ([]Info, error) {
	raw := make([]byte, min(t.size, 64<<20))
	if _, err := t.file.ReadAt(raw, 0); err != nil {
		return nil, err
	}
	r := pickle.NewReader(raw, t.limits(len(raw)))
	var v [5]pickle.Value
	for i := range v {
		var err error
		if v[i], err = r.Next(); err != nil {
			return nil, err
		}
	}
	system, isDict := v[2].(*pickle.Dict)
	keys, isList := v[4].(*pickle.List)
	if version, ok := v[1].(pickle.Int); !ok || version != 1001 || !isDict || !isList {
		return nil, errLegacy
	}
	little, ok := entry(system, "little_endian").(pickle.Bool)
	if !ok {
		return nil, errLegacy
	}
	item := map[string]int64{}
	for _, s := range r.Storages() {
		if other, again := item[s.Key]; again && other != s.Item {
			return nil, fmt.Errorf("storage %.40q has elements of %d and of %d bytes", s.Key, other, s.Item)
		}
		item[s.Key] = s.Item
	}
	found, err := t.legacyStorages(keys, item, int64(r.Offset()))
	if err != nil {
		return nil, err
	}
	return t.tensors(v[3], !bool(little), func(s *pickle.Storage) (section, error) {
		at, ok := found[s.Key]
		if !ok {
			return at, fmt.Errorf("storage %.40q is missing. Fix: download the file again", s.Key)
		}
		if need := s.Numel * s.Item; at.length != need {
			return at, fmt.Errorf("storage %.40q has %d bytes, needs %d. Fix: download the file again", s.Key,
				at.length, need)
		}
		return at, nil
	})
}

// legacyStorages finds each storage by the lengths of those before it.
func (t *torchFile) legacyStorages(keys *pickle.List, item map[string]int64, at int64) (map[string]section, error) {
	found := make(map[string]section, min(len(keys.Items), len(item)))
	for _, v := range keys.Items {
		key, ok := v.(pickle.String)
		if !ok {
			return nil, errLegacy
		}
		size, named := item[string(key)]
		if _, again := found[string(key)]; again || !named {
			return nil, fmt.Errorf("storage %.40q is listed, but of no tensor or twice", string(key))
		}
		if t.size-at < 8 {
			return nil, fmt.Errorf("storage %.40q: the file is cut short. Fix: download the file again", string(key))
		}
		numel, err := littleEndian(t.file, at)
		if err != nil {
			return nil, err
		}
		at += 8
		if numel > uint64((t.size-at)/size) {
			return nil, fmt.Errorf("storage %.40q has %d elements of %d bytes, the file has %d bytes left: it is cut "+
				"short. Fix: download the file again", string(key), numel, size, t.size-at)
		}
		length := int64(numel) * size
		found[string(key)] = section{offset: at, length: length}
		at += length
	}
	return found, nil
}
