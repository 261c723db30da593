package manifest

// Fonts is the name of the manifest of fonts: Noto Sans for the scripts that PNG figures need and the
// built-in font lacks. The fonts are not part of this module; `antipode data pull fonts` downloads about 24 MB.
const Fonts = "fonts"

// Commits of the repository that has the families as Google Fonts serves them, one folder for each.
const (
	fontsOrigin = "https://github.com/expo/google-fonts"
	fontsRaw    = "https://raw.githubusercontent.com/expo/google-fonts/"
	release3    = "15316f0c20aaf9900739f7005a0a4db2571d04c9" // packages 0.3.0
	release4    = "bbfc23543754b7d9cafb624e72ddc09be310bcdc" // packages 0.4.1
)

func init() {
	font := func(family, folder, commit, sum string) File {
		upstream := "font-packages/noto-sans-" + folder + "/400Regular/NotoSans" + family + "_400Regular.ttf"
		return File{Path: "NotoSans" + family + "-Regular.ttf", Upstream: upstream, URL: fontsRaw + commit + "/" +
			upstream, Commit: commit, SHA256: sum}
	}
	const license = "font-packages/noto-sans-malayalam/LICENSE_FONT"
	Register(Manifest{
		Name: Fonts, Title: "Noto Sans in 17 families, for text in PNG figures (Indic, Arabic, Hebrew, Thai, " +
			"Chinese, Japanese, Korean)",
		Origin: fontsOrigin, Version: "commits " + release3[:7] + " and " + release4[:7] + " (packages 0.3.0, 0.4.1)",
		License: "OFL-1.1", Citation: "The Noto Project Authors, Noto Sans",
		Files: []File{
			font("Devanagari", "devanagari", release3,
				"084a94d89eb54aafb93a056e15425c34fd859f6342875165d304837b3bcfc2d2"),
			font("Bengali", "bengali", release3, "f43343188b757f9759a764789d4c01d277938c1ceff3397e4c1ac5f3dd158d2b"),
			font("Gurmukhi", "gurmukhi", release3, "2b0fbe8d4cc2a18aa08c6f21d3924423c113fb7ec6d786a77c30cf1d3153c4c7"),
			font("Gujarati", "gujarati", release3, "a2fe85f57b1ec446cffb0e3abf10cfc01986ea3ab228216dd4a370f806224e58"),
			font("Oriya", "oriya", release3, "e5d16377ee01703170468402ad02d15595c77150bf62b4c31c66d3e79ad58039"),
			font("Tamil", "tamil", release3, "a4afdacb62259f32e3d089fcda915b8996d631076d8d87b89d18759ef14cd7ab"),
			font("Kannada", "kannada", release3, "8c9b9b3c863735f35ff778c72bc97ab5c5c0056fa3738e29b98dd879f90aab68"),
			font("Malayalam", "malayalam", release4,
				"68cbfeac7177700d87671f2a3bdb3db70fa26016e41cdac24e20877bf3736485"),
			font("Arabic", "arabic", release3, "7babaf48a110fb38a89339cec00b96df455424a5ff06065d4eea1e40d7efafe1"),
			font("Hebrew", "hebrew", release3, "e0ee753f09733337b9236221018d4bf71fd6d06c87dd76bbc83120514bc55911"),
			font("Thai", "thai", release3, "9aee503e8c9126e238639973a7eb7830ae02b4aed2a8f453b0f86300c2b5a9af"),
			font("SC", "sc", release3, "5cf8b2a0576d5680284ab03a7a8219499d59bbe981a79bb3dc0031f251c39736"),
			font("JP", "jp", release3, "7c8597677e9fac0f54d7848ad18bc6a708dfb5baa4ebf4bd91e66efcca313bf3"),
			font("KR", "kr", release3, "9db318b65ee9c575a43e7efd273dbdd1afef26e467eea3e1073a50e1a6595f6d"),
			font("Telugu", "telugu", release4, "7fcef235380f945d4a97fdfec030952afab6907004cfa37ed664fed8d4962eac"),
			font("OlChiki", "ol-chiki", release4, "1b1419c0bda20977838a3b9830a2c803c04d7d4017ef407144d06d5c5c5848e2"),
			font("MeeteiMayek", "meetei-mayek", release4,
				"70c4ab1b618500acc5ee4e6b8f4584d8c0470d864fc36df2a005fd031c929fd2"),
			{Path: "LICENSE", Upstream: license, URL: fontsRaw + release4 + "/" + license, Commit: release4,
				SHA256: "1df18163a0bf60f02131401ba1609df90051f40c4047684dda1c8a2e9586f7f2"},
		},
	})
}
