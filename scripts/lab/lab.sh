# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions that the scripts share: messages, the cache, Debian's archive, builds of the
# modules, guests, checks of a kernel log.
#
# Usage: . "$(dirname "$0")/lab/lab.sh"

set -euo pipefail
export LC_ALL=C
# The make of "make check" must not influence the makes that the scripts start
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES KDIR ARCH CROSS_COMPILE KBUILD_OUTPUT

lab_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
lab_scripts=$lab_top/scripts
lab_cache=${XDG_CACHE_HOME:-~/.cache}/hwheel
lab_jobs=$(nproc)
lab_arch=${lab_arch:-amd64}
lab_lists=$lab_cache/apt-$lab_arch
lab_mounts=()
lab_guest=
lab_questions=
lab_groups=()
# Compilers that are called with ccache compile only what has changed since an earlier run.
# Each run builds in a new folder, so don't let the folder matter. Debian's headers call ccache if
# they are asked to.
lab_ccache=(CCACHE_DIR="$lab_cache/ccache" CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=/ CCACHE_MAXSIZE=2G)
export "${lab_ccache[@]}"
lab_ccache+=(DEBIAN_KERNEL_USE_CCACHE=1)
! command -v ccache >/dev/null || export DEBIAN_KERNEL_USE_CCACHE=1

mkdir -p "$lab_cache/log"
lab_work=$(mktemp -d "${TMPDIR:-/tmp}/hwheel.XXXXXX")
trap lab_cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

lab_cleanup()
{
	local group

	# timeout passes the signal on to the guest, which may have another process group
	[ -z "$lab_guest" ] || { kill "$lab_guest" && wait "$lab_guest"; } || :
	[ -z "$lab_questions" ] || kill "$lab_questions" 2>/dev/null || :
	# The process groups of check.sh's suites
	for group in "${!lab_groups[@]}"; do
		kill -- "-$group" && wait "$group"
	done 2>/dev/null || :
	rm -rf --one-file-system "$lab_work"
}

# Messages go to SAY_FD, so that the user sees them even if stdout and stderr go to files.
say()
{
	printf '%s\n' "$*" >&"${SAY_FD:-2}"
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# quiet LOG COMMAND...: keeps the output in the cache; prints its end on failure
quiet()
{
	local log=$lab_cache/log/$1.log

	shift
	"$@" >"$log" 2>&1 </dev/null && return
	say "failed: $*"
	tail -n 20 "$log" >&"${SAY_FD:-2}"
	say "the whole output: $log"
	return 1
}

# once DIR FUNCTION: makes the cache entry DIR if it is absent. FUNCTION gets a new folder
# and fills it; each of its steps must end in || return. An entry is complete or absent.
# Only one process at a time makes it.
once()
{
	local dir=$1 fill=$2 new=$1.new

	(
		flock 9
		[ ! -d "$dir" ] || exit 0
		rm -rf "$new" && mkdir "$new" && "$fill" "$new" && mv "$new" "$dir"
	) 9>"$dir.lock"
}

#
# Debian's archive
#

# debian_machine: dies if the scripts can't get packages and kernels for this machine
debian_machine()
{
	local machine

	# shellcheck source=/dev/null
	machine=$(. "${OS_RELEASE:-/etc/os-release}" && echo "$ID:${VERSION_ID-} $PRETTY_NAME") ||
		machine=": unknown"
	case $(uname -m)-${machine%% *} in
	x86_64-debian:|x86_64-debian:1[2-9]) command -v apt-get >/dev/null && return ;;
	esac
	die "this needs Debian 12, 13 or testing on x86-64, with apt-get;" \
		"this machine is ${machine#* } on $(uname -m)"
}

# archive LOG APT-GET-ARGUMENTS...: runs one apt-get at a time, since apt takes locks
archive()
{
	local log=$1

	shift
	flock "$lab_cache/apt.lock" env DEBIAN_FRONTEND=noninteractive \
		apt-get -y -o DPkg::Lock::Timeout=300 "$@" \
		>"$lab_cache/log/$log.log" 2>&1 </dev/null
}

# with_archive COMMAND...: runs COMMAND. If it fails, fetches the archive's lists, which
# may be old or missing, and runs COMMAND again.
with_archive()
{
	"$@" && return
	say "apt: fetching the archive's lists"
	archive apt-update update ||
		say "that failed, see $lab_cache/log/apt-update.log"
	"$@"
}

# need PACKAGE...: installs missing packages, on this machine or in the chroot ROOT
need()
{
	local missing=() package where=${ROOT:+" in $ROOT"}

	# Without the headers of C, gcc compiles nothing but the kernel
	[[ " $* " != *" gcc "* ]] || set -- "$@" libc6-dev
	for package; do
		dpkg-query --admindir="${ROOT-}/var/lib/dpkg" -Wf '${Status}' "$package" \
			2>/dev/null | grep -q ' installed$' || missing+=("$package")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	debian_machine
	[ "$(id -u)" = 0 ] || die "not root; please install ${missing[*]}"

	say "apt: installing ${missing[*]}$where"
	if [ -n "$where" ]; then
		need_in_root >"$lab_cache/log/apt-install.log" 2>&1 </dev/null && return
	else
		with_archive archive apt-install install --no-install-recommends \
			"${missing[@]}" && return
	fi
	tail -n 20 "$lab_cache/log/apt-install.log" >&2
	die "could not install ${missing[*]}$where"
}

# First completes an installation that was interrupted
need_in_root()
{
	(
		flock 9
		debian_connect "$ROOT"
		chroot_run "$ROOT" "dpkg --configure -a && apt-get update && apt-get install \
			-y --no-install-recommends ${missing[*]} && apt-get clean"
	) 9>"$ROOT.lock"
}

# debian_mirror SUITE: prints the mirror of SUITE in the lists of this machine's apt, or else in
# the lab's lists. Suites whose names end with security have one mirror, all others another.
# Fails if no list has a mirror.
debian_mirror()
{
	{
		debian_indexes -c "$lab_lists/conf"
		debian_indexes
	} | awk -v security="${1##*-}" '
		$1 == "Debian" && $2 == "main" &&
		($3 ~ /-security$/) == (security == "security") { uri = $4 }
		END { print uri; exit !uri }'
}

# debian_indexes APT-GET-OPTIONS...: prints the suites in apt's lists, and their mirrors
# shellcheck disable=SC2016 # apt's variables
debian_indexes()
{
	apt-get "$@" indextargets --format '$(ORIGIN) $(COMPONENT) $(RELEASE) $(REPO_URI)' \
		'Created-By: Packages' 2>/dev/null || :
}

# debian_sources SUITE...: prints lines for a sources.list
debian_sources()
{
	local suite mirror

	for suite; do
		mirror=$(debian_mirror "$suite") || continue
		debian_lines "$mirror" "$suite"
	done
}

# debian_lines MIRROR SUITE...: prints a line for each suite
debian_lines()
{
	printf "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $1 %s main\n" \
		"${@:2}"
}

# lists MINUTES: fetches the lists of the lab's own apt, unless they are younger than
# MINUTES. The lists have the packages of the suites that lists_fetch() names, also of
# those that this machine does not use. The file packages has a line for each package
# of a kernel: NAME VERSION SUITE, newest versions first.
lists()
{
	debian_machine
	need debian-archive-keyring
	mkdir -p "$lab_lists"/{lists,archives}/partial
	(
		flock 9
		[ -n "$(find "$lab_lists/packages" -mmin "-$1" 2>/dev/null)" ] || lists_fetch
	) 9>"$lab_lists/lock"
}

lists_fetch()
{
	local dir=$lab_lists apt_cache=(apt-cache -c "$lab_lists/conf") main

	main=$(with_archive debian_mirror main) ||
		die "this machine's apt has no archive of Debian"
	say "apt: fetching the lists of all of Debian's suites (about 20 s)"
	{
		debian_sources {bookworm,trixie}{,-security,-backports} forky{,-security} \
			sid experimental
		# Testing's security archive may be empty. Then apt does not tell where it is.
		debian_mirror security >/dev/null ||
			debian_lines "${main%/debian/}/debian-security/" \
				{bookworm,trixie,forky}-security
	} | sed "s/ \[/&arch=$lab_arch target=Packages /" >"$dir/sources"
	: >"$dir/status"
	cat >"$dir/conf" <<-END
	Dir::Etc::sourcelist "$dir/sources";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferences "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	Dir::State::lists "$dir/lists";
	Dir::State::status "$dir/status";
	Dir::Cache "$dir";
	Dir::Cache::pkgcache "";
	Dir::Cache::srcpkgcache "";
	Acquire::GzipIndexes "true";
	APT::Architecture "$lab_arch";
	#clear APT::Architectures;
	#clear APT::Update;
	END
	# Without a network, go on with the present lists
	archive apt-lists -c "$dir/conf" -o Acquire::Retries=0 update || :
	"${apt_cache[@]}" pkgnames linux- | grep -E -- '-[0-9]+\.[0-9]' |
		xargs -r "${apt_cache[@]}" madison | tr -d '|' |
		awk '{ sub("/.*", "", $4); print $1, $2, $4 }' | sort -u -k 2,2rV -k 1 >"$dir/new"
	touch "$dir/packages"
	[ ! -s "$dir/new" ] || mv "$dir/new" "$dir/packages"
}

# with_lists COMMAND...: runs COMMAND; if it fails, runs it again with new lists
with_lists()
{
	lists 1440
	"$@" || { lists 10; "$@"; }
}

# archive_names REGEX: prints the names of the kernel packages that match REGEX, in any
# suite, oldest first
archive_names()
{
	cut -d ' ' -f 1 "$lab_lists/packages" | grep -xE "$1" | sort -uV
}

# archive_version PACKAGE: prints its newest version
archive_version()
{
	awk -v name="$1" '$1 == name { print $2; exit }' "$lab_lists/packages"
}

# archive_extract PACKAGE DIR GLOB: extracts the files of a package that match GLOB to DIR,
# without their folders
archive_extract()
{
	local unpack=$lab_work/$1

	say "apt: downloading $1"
	rm -rf "$unpack" && mkdir "$unpack" || return
	(cd "$unpack" && archive apt-download -c "$lab_lists/conf" \
		download "$1=$(archive_version "$1")") || return
	dpkg --fsys-tarfile "$unpack"/*.deb |
		tar -x -C "$2" --wildcards --transform 's,.*/,,' "$3" || return
	rm -r "$unpack"
}

# linux_source [SERIES|newest|oldest]: unpacks Debian's linux-source of a series, such as 6.1,
# and prints its folder. The default is the newest 6.x.
linux_source()
{
	need xz-utils
	with_lists linux_source_get "${1:-6.x}" || die "found no linux-source of ${1:-6.x}"
}

linux_source_get()
{
	local name series=$1 dir

	case $1 in
	newest|oldest)	series='[0-9]+\.[0-9]+' ;;
	*)		series=${1//./\\.} series=${series/%x/[0-9]+} ;;
	esac
	name=$(archive_names "linux-source-$series" |
		if [ "$1" = oldest ]; then head -n 1; else tail -n 1; fi)
	[ -n "$name" ] || return
	dir=$lab_cache/$name-$(archive_version "$name")

	linux_source_fill()
	{
		archive_extract "$name" "$1" '*.tar.xz' || return
		say "$name: unpacking (about 15 s)"
		tar -C "$1" --strip-components=1 -xf "$1/$name.tar.xz" || return
		rm "$1/$name.tar.xz"
	}
	once "$dir" linux_source_fill && echo "$dir"
}

# debian_source PACKAGE: unpacks the newest source of a package in Debian, without Debian's
# patches, and prints its folder
debian_source()
{
	need xz-utils
	with_lists debian_source_get "$1" || die "found no source of $1"
}

debian_source_get()
{
	local package=$1 version dir
	local apt=(-c "$lab_lists/conf" -o "Dir::Etc::sourcelist=$lab_work/apt/sources"
		-o "Dir::State::lists=$lab_work/apt/lists")

	version=$(apt-cache -c "$lab_lists/conf" madison "$1" | awk '{ print $3 }' | sort -V |
		tail -n 1)
	[ -n "$version" ] || return
	dir=$lab_cache/source-$1-$version

	debian_source_fill()
	{
		say "apt: downloading the source of $package"
		mkdir -p "$lab_work/apt/lists/partial"
		debian_sources sid experimental | sed 's/^deb /deb-src /' >"$lab_work/apt/sources"
		archive apt-sources "${apt[@]}" update || return
		(cd "$1" && archive apt-download "${apt[@]}" source --download-only \
			"$package=$version") || return
		tar -C "$1" --strip-components=1 -xf "$(ls "$1"/*.orig.tar.?z)" || return
		rm "$1"/*.dsc "$1"/*.tar.*
	}
	once "$dir" debian_source_fill && echo "$dir"
}

#
# Stock kernels
#

# stock_release NAME: finds the newest stock kernel of this NAME whose headers Debian has.
# Prints the kernel's release and suite. If this machine's apt has the suite, prints "own"
# instead of the suite. NAME is
#	6.1, 6.12, ...	a series
#	newest		the newest series from 7.0 on
#	lts		the newest longterm series after 6.12
#	NAME-rt		the same with PREEMPT_RT
# With FROM=bookworm, or another release of Debian, only the kernels of that release count. With
# FROM=own only those that this machine's apt has count.
stock_release()
{
	with_lists stock_release_get "$1" && return
	say "found no stock $1 kernel with headers in Debian${FROM:+ $FROM}, which has" \
		"$(stock_releases . | sort -V |
			sed -E 's/^([0-9]+[.][0-9]+)[.].*-(cloud|rt)-.*/\1-\2/; s/-cloud$//' |
			sort -uV | tr '\n' ' ')"
	return 1
}

stock_release_get()
{
	local name=${1%-rt} series flavour=cloud found

	[ "$name" = "$1" ] || flavour=rt
	case $name in
	newest)	series='([7-9]|[1-9][0-9])[.][0-9]+' ;;
	# The newest longterm series after 6.12. Change it when there is a newer one
	lts)	series='6[.]18' ;;
	*)	series=${name//./[.]} ;;
	esac
	found=$(stock_releases "^${series}[.].*-$flavour-" | tail -n 1)
	[ -n "$found" ] && echo "$found"
}

# stock_releases REGEX: prints RELEASE and SUITE of each kernel that matches REGEX, newest
# last. If two suites have the same version, this machine's own suite comes last. Skips
# packages without a full version in their names: these are empty, or release candidates.
# shellcheck disable=SC2016 # apt's variables
stock_releases()
{
	{
		apt-get indextargets --format 'own $(RELEASE) $(CODENAME)' \
			'Created-By: Packages' 2>/dev/null
		cat "$lab_lists/packages"
	} | awk -v from="${FROM-}" -v wanted="$1" -v arch="$lab_arch" '
	$1 == "own" { own[$2] = own[$3] = 1; next }
	!match($1, /^linux-(image|binary|headers)-/) { next }
	{ release = substr($1, RLENGTH + 1) }
	!/^linux-headers/ { sub(/-unsigned$/, "", release); image[release] = 1; next }
	release ~ wanted && release ~ "^[0-9]+[.][0-9]+[.][0-9]+(-[0-9]+|[+]deb[0-9.]+)-(cloud|rt)-" arch "$" &&
	(from == "own" ? $3 in own : index($3, from) == 1) {
		sub(/-[^-]*$/, "", $2)
		rows[$2 " " ($3 in own) " " release " " ($3 in own ? "own" : $3)] = release
	}
	END {
		for (row in rows)
			if (rows[row] in image)
				print row
	}' | sort -k 1,1V -k 2,2 -k 3,3V -k 4,4r | cut -d ' ' -f 3-
}

# stock_package KIND RELEASE: prints the package with the image (KIND is binary) or the
# modules of a kernel. Up to 6.x the package linux-image-RELEASE has both. If there is also
# linux-image-RELEASE-unsigned, prints that one.
stock_package()
{
	local package

	for package in "linux-$1-$2" "linux-image-$2-unsigned" "linux-image-$2"; do
		[ -z "$(archive_version "$package")" ] || break
	done
	echo "$package"
}

# stock_vmlinuz RELEASE: prints the path of its image
stock_vmlinuz()
{
	local release=$1 dir=$lab_cache/stock-$1

	stock_vmlinuz_fill()
	{
		archive_extract "$(stock_package binary "$release")" "$1" '*/vmlinuz*' || return
		[ -e "$1/vmlinuz" ] || mv "$1"/vmlinuz-* "$1/vmlinuz"
	}
	with_lists once "$dir" stock_vmlinuz_fill && echo "$dir/vmlinuz"
}

# stock_modules RELEASE MODULE...: prints the files of these modules of a stock kernel, and
# of the modules that they depend on, in the order in which they must be loaded
stock_modules()
{
	local release=$1 tree file dir=$lab_work/stock-modules

	shift
	need kmod xz-utils zstd
	tree=$(stock_modules_tree "$release") || die "found no modules of $release"

	mkdir -p "$dir"
	modprobe -C /dev/null -d "$tree" -S "$release" --all --show-depends "$@" \
		>"$dir/depends" || return
	awk '$1 == "insmod" && !seen[$2]++ { print $2 }' "$dir/depends" >"$dir/list"
	while read -r file; do
		cp "$file" "$dir" || return
		module_plain "$dir/${file##*/}" || return
	done <"$dir/list"
}

# module_plain FILE: decompresses a module if it is compressed; prints its new name
module_plain()
{
	case $1 in
	*.xz)	xz -df "$1" ;;
	*.zst)	zstd -qdf --rm "$1" ;;
	esac && echo "${1%.[xz]*}"
}

# stock_modules_tree RELEASE: prints the folder that has its lib/modules
stock_modules_tree()
{
	local release=$1 dir=$lab_cache/stock-$1-modules

	stock_modules_fill()
	{
		local modules=$1/lib/modules/$release

		mkdir -p "$modules" || return
		archive_extract "$(stock_package modules "$release")" "$modules" \
			'*/lib/modules/*.ko*' || return
		# depmod warns, since the lists of built-in modules are missing
		depmod -b "$1" "$release" 2>/dev/null
	}
	with_lists once "$dir" stock_modules_fill && echo "$dir"
}

# uml_sizes: prints two sizes in bytes for which UML is built: of the FP state, and of a
# signal frame, which contains an FP state. They are the host's sizes, but at least those
# of a CPU with AMX. So each host builds UML as a host with AMX does.
uml_sizes()
{
	need gcc
	gcc -x c - -o "$lab_work/sizes" <<-'EOF'
	#include <cpuid.h>
	#include <stdio.h>
	#include <sys/auxv.h>

	#ifndef AT_MINSIGSTKSZ
	#define AT_MINSIGSTKSZ 51
	#endif

	#define AMX_STATE 11008
	#define AMX_FRAME 11952

	int main(void)
	{
		unsigned long frame = getauxval(AT_MINSIGSTKSZ);
		unsigned int a, state = 0, c, d;

		__get_cpuid_count(0xd, 0, &a, &state, &c, &d);
		/* Linux before 5.14 has no AT_MINSIGSTKSZ */
		if (!frame)
			frame = state + 1024UL;
		printf("%u %lu\n", state > AMX_STATE ? state : AMX_STATE,
		       frame > AMX_FRAME ? frame : AMX_FRAME);
		return 0;
	}
	EOF
	"$lab_work/sizes"
}

# stack_order FRAME: prints the CONFIG_KERNEL_STACK_ORDER of UML with which a signal frame
# of FRAME bytes takes at most an eighth of a stack. UML's interrupts are signals. Up to
# 6.12 their handlers have an FP state on the stack, too. With AMX the two take more than
# the default stack of 16 KiB.
stack_order()
{
	local order=2

	until stack_fits $order "$1"; do
		order=$((order + 1))
	done
	echo $order
}

# stack_fits ORDER FRAME: whether a frame takes at most an eighth of the stack
stack_fits()
{
	[ $((4096 << $1)) -ge $((8 * $2)) ]
}

# uml_config: prints the part of UML's configuration that depends on sizes
uml_config()
{
	echo "CONFIG_KERNEL_STACK_ORDER=$(stack_order "$(uml_sizes | cut -d ' ' -f 2)")"
}

# uml_stack_fits BUILDDIR: whether this UML kernel fits the host. A signal frame must take at
# most an eighth of a stack. If the kernel was built for a fixed size of the FP state, the
# host's FP state must not be larger.
uml_stack_fits()
{
	local order state frame longs constants=$1/include/generated/user_constants.h

	order=$(sed -n 's/^CONFIG_KERNEL_STACK_ORDER=//p' "$1/.config")
	longs=$(sed -n 's/^#define HOST_FP_SIZE \([0-9]*\).*/\1/p' "$constants") || return
	read -r state frame < <(uml_sizes)
	echo "a signal frame takes $frame of $((4096 << order)) bytes of a stack"
	[ -z "$longs" ] || echo "an FP state takes $state of $((8 * longs)) bytes"
	stack_fits "$order" "$frame" && [ $((8 * ${longs:-state})) -ge "$state" ]
}

# patch_source DIR: patches UML and KUnit in a kernel's source.
#
# - Up to 6.12, UML has 2696 bytes for the FP state. User space dies on hosts that have
#   more (AMX).
# - KUnit stops a case after 300 s. In simulated time a case may take years. The guest
#   still has a limit.
patch_source()
{
	local kunit=$1/lib/kunit state

	state=$(uml_sizes | cut -d ' ' -f 1)
	sed -i "s/(HOST_FP_SIZE, [0-9]*)/(HOST_FP_SIZE, $state)/" \
		"$1/arch/x86/um/user-offsets.c" &&
		sed -i -e 's/return 300 \* msecs_to_jiffies(.*/return MAX_SCHEDULE_TIMEOUT;/' \
			-e 's/return mult \* kunit_base_timeout .*/return MAX_SCHEDULE_TIMEOUT;/' \
			"$kunit/try-catch.c" "$kunit/test.c" &&
		grep -q 'return MAX_SCHEDULE_TIMEOUT;' "$kunit/try-catch.c" "$kunit/test.c"
}

# link_tree DIR COPY: makes a copy of a kernel's source, which has 1.5 GB. Makes links to the
# files if COPY is on the same filesystem. Replace a file of the copy, do not write to it.
link_tree()
{
	cp -al "$1" "$2" 2>/dev/null || { rm -rf "$2" && cp -a "$1" "$2"; }
}

# graft_source SOURCE TREE: makes a tree of links to a kernel's source, puts hwheel into it, and
# applies patches/. Neither graft nor patch writes to a file that has links: they replace it.
graft_source()
{
	local file

	need patch
	link_tree "$1" "$2" && "$lab_top/tools/graft" "$2" >/dev/null || return
	for file in "$lab_top"/patches/*.patch; do
		quiet graft-patch patch -d "$2" -p1 -F0 -i "$file" ||
			die "${file##*/} does not apply to ${1##*/}"
	done
}

# graft_key: prints all that graft_source() puts into a tree
graft_key()
{
	declare -f graft_source
	cat "$lab_top"/{Kbuild,Kconfig,hwheel*.[ch],module/*,tests/*.[ch],tools/graft,patches/*.patch}
}

# build_key TEXT...: prints a key for what is built from a kernel's source: TEXT, how the
# source is patched, and the compiler
build_key()
{
	{
		printf '%s\n' "$@"
		declare -f patch_source
		uml_sizes
		gcc --version
	} | sha256sum | cut -c -12
}

#
# Chroots
#

# debian_may: whether this user may mount filesystems in a chroot. If this shell is in a
# chroot itself, its root is not a mount, so unshare can't make it private. Then check
# that a mount in a new namespace is not visible here.
debian_may()
{
	local probe=$lab_work/probe

	[ "$(id -u)" = 0 ] || return
	unshare --mount true 2>/dev/null && return
	mkdir -p "$probe"
	# shellcheck disable=SC2016 # the inner shell's variable
	unshare --mount --propagation unchanged sh -c \
		'mount -t tmpfs probe "$1" && touch "$1/shared"' sh "$probe" || return
	[ -e "$probe/shared" ] || { lab_mounts=(--propagation unchanged); return; }
	umount "$probe"
	return 1
}

# debian_codename: prints the release DEBIAN, or that of this machine
debian_codename()
{
	(. /etc/os-release && echo "${DEBIAN:-$VERSION_CODENAME}")
}

# debian_later SUITE: prints lines for a sources.list: the later kernels of that release
debian_later()
{
	case $1 in
	sid)	debian_sources experimental ;;
	bookworm|trixie) debian_sources "$1-backports" ;;
	esac
}

# debian_stock NAME...: prints what stock_release() prints, for the first of these kernels in the
# release of debian_codename()
debian_stock()
{
	local name FROM

	FROM=$(debian_codename)
	for name; do
		stock_release "$name" && return
	done
	return 1
}

# debian_unpack DIR [COMMANDS]: unpacks a minimal Debian of the release that debian_codename()
# prints. With COMMANDS, unpacks a copy in which COMMANDS were run. The cache keeps that copy.
debian_unpack()
{
	local root=$1 commands=${2-} base key

	debian_base
	if [ -n "$commands" ]; then
		key=$(echo "$commands" | sha256sum)
		once "$base-${key:0:8}" debian_fill || die "no Debian $codename after: $commands"
		base+=-${key:0:8}
	fi
	mkdir -p "$root" && tar -C "$root" --zstd -xpf "$base/root.tar.zst" &&
		debian_connect "$root"
}

# debian_connect DIR: lets the chroot use the archive as this machine does
debian_connect()
{
	cp -L /etc/resolv.conf "$1/etc" || return
	apt-config dump | sed -nE '/^Acquire::(Check-|ForceIPv|https?::.*Proxy)/p' \
		>"$1/etc/apt/apt.conf.d/machine"
}

# builder SUITE: prints the folder of a chroot with the release of Debian that has this
# suite. Its compilers build modules for the suite's kernels. The chroot stays in the
# cache, and need() adds packages to it.
builder()
{
	local DEBIAN=${1%%-*} base root

	debian_may || die "to build modules for kernels of $1 takes a chroot:" \
		"root that may mount filesystems"
	[ "$DEBIAN" != experimental ] || DEBIAN=sid
	debian_base
	root=$lab_cache/builder-${base##*/debian-}
	once "$root" builder_fill || die "no Debian $DEBIAN to build in"
	echo "$root"
}

builder_fill()
{
	debian_unpack "$1" && debian_later "$DEBIAN" >>"$1/etc/apt/sources.list"
}

# debian_base: sets two variables. codename: the release of debian_codename(). base: a folder
# with a packed chroot of that release
debian_base()
{
	local key

	codename=$(debian_codename)
	need debootstrap zstd
	key=$(declare -f debian_fill debian_fill_base | sha256sum)
	base=$lab_cache/debian-$codename-${key:0:8}
	with_archive once "$base" debian_fill_base || die "no Debian $codename"
}

# shellcheck disable=SC2154 # debian_base's
debian_fill_base()
{
	local root=$lab_work/debian-base suites=("$codename") proxy=

	debian_may || return
	[ "$codename" = sid ] || suites+=("$codename"-{updates,security})
	say "debian: making a chroot of $codename (about 2 min)"
	rm -rf "$root"
	# Use debootstrap's script of sid for every release: debootstrap has no scripts for
	# releases that are newer than itself. debootstrap mounts /proc in $root. If debootstrap is
	# killed, lab_cleanup() must not find that mount. So debootstrap gets a
	# mount namespace of its own.
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	http_proxy=${proxy:-${http_proxy-}} \
		quiet debootstrap unshare --mount "${lab_mounts[@]}" \
		debootstrap --variant=minbase --include=ca-certificates "$codename" "$root" \
		"$(debian_mirror "$codename")" sid || return
	debian_sources "${suites[@]}" >"$root/etc/apt/sources.list" &&
		echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/quick" || return
	debian_pack "$1"
}

# shellcheck disable=SC2154 # debian_unpack's
debian_fill()
{
	local root=$lab_work/debian-filled

	rm -rf "$root" && mkdir "$root" &&
		tar -C "$root" --zstd -xpf "$base/root.tar.zst" || return
	debian_connect "$root"
	say "debian: installing what is wanted in a chroot of $codename (about 2 min)"
	quiet chroot chroot_run "$root" "apt-get update && $commands" || return
	debian_pack "$1"
}

debian_pack()
{
	chroot_run "$root" "apt-get clean" &&
		tar -C "$root" -c . | zstd -q -1 -T0 -o "$1/root.tar.zst" || return
	rm -rf "$root"
}

# chroot_run DIR COMMANDS: runs COMMANDS in the chroot DIR. When COMMANDS have ended,
# the mounts are gone.
# BIND lists folders to mount in the chroot: FOLDER at its own path, or FOLDER:PATH.
# shellcheck disable=SC2016 # the inner shell's variables
chroot_run()
{
	debian_may || return
	unshare --mount "${lab_mounts[@]}" --pid --fork sh -c '
		root=$1
		mount --bind "$root" "$root" && mount -t proc proc "$root/proc" &&
			mount --rbind /dev "$root/dev" || exit
		for folder in $3; do
			mkdir -p "$root${folder#*:}" &&
				mount --bind "${folder%:*}" "$root${folder#*:}" || exit
		done
		exec chroot "$root" env -i HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			sh -c "$2"' sh "$1" "$2" "${BIND-}"
}

#
# Building
#

# plant_fault NAME DIR: applies the fault of tests/faults/ to a copy of the sources
plant_fault()
{
	local faults=$lab_top/tests/faults

	need patch
	[ -e "$faults/$1.patch" ] ||
		die "no fault $1; there are:" "$(cd "$faults" && echo *.patch | sed 's/\.patch//g')"
	quiet plant patch -d "$2" -p1 -F0 -i "$faults/$1.patch" ||
		die "tests/faults/$1.patch does not apply any more"
}

# copy_sources DIR: copies the checkout without the files that git ignores. tar does not know that
# a pattern with a slash at its end is a folder. Builds are done
# in such copies, so that the checkout stays clean and several builds can run at a time.
copy_sources()
{
	mkdir -p "$1"
	tar -C "$lab_top" --exclude=.git --exclude-vcs-ignores \
		--exclude=./build --exclude=./Documentation/output --exclude=__pycache__ -cf - . |
		tar -C "$1" -xf -
}

# kbuild KERNELDIR MAKE-ARGUMENTS...: runs make in KERNELDIR. If a builder has KERNELDIR,
# runs make in that chroot.
kbuild()
{
	local root command

	root=$(kbuild_root "$1")
	if [ -n "$root" ]; then
		mkdir -p "$CCACHE_DIR"
		printf -v command '%q ' "${lab_ccache[@]}" make -C "${1#"$root"}" "${@:2}"
		BIND="${TMPDIR:-/tmp} $CCACHE_DIR" chroot_run "$root" "env $command"
	else
		make -C "$@"
	fi
}

# kbuild_root KERNELDIR: prints the builder that has KERNELDIR. Prints nothing if no builder has
# it.
kbuild_root()
{
	case $1 in
	"$lab_cache"/builder-*) echo "${1%/usr/src/*}" ;;
	esac
}

# build_modules LOG KERNELDIR DIR [MAKE-ARGUMENTS...]: builds a copy of the checkout in DIR.
# Suites of one make check share a build: check.sh sets LAB_BUILDS, the folder for them.
build_modules()
{
	local builds=${LAB_BUILDS:-$lab_work/builds} key

	key=$(printf '%s\n' "$2" "${plant-}" "${@:4}" | sha256sum)
	mkdir -p "$builds" "$3"
	making=("$1" kbuild "$2" -j "$lab_jobs" "${@:4}" modules)
	if [ ! -e "$2/.kernelvariables" ]; then		# not Debian's headers
		need ccache
		making+=(CC="ccache gcc")
	fi
	once "$builds/${key:0:12}" build_modules_fill &&
		cp -a "$builds/${key:0:12}/." "$3"
}

build_modules_fill()
{
	copy_sources "$1" || return
	[ -z "${plant-}" ] || plant_fault "$plant" "$1" || return
	quiet "${making[@]}" M="$1"
}

# kbuild_probes: prints the first lines of the Kbuild of a module that includes module/compat.h
kbuild_probes()
{
	grep -E '^(hwheel-has|subdir-ccflags)' "$lab_top/Kbuild"
}

#
# Guests
#

# guest_image FILE SCRIPT FILES...: makes an initramfs whose init runs SCRIPT in /hw, which
# has FILES. BUSYBOX names a busybox of another architecture. PACK=cat does not compress:
# guests are slow to unpack large images.
guest_image()
{
	local image=$1 script=$2 root=$lab_work/root

	shift 2
	need busybox-static cpio gzip python3-minimal
	mkdir -p "$root"/{bin,dev,hw,proc,sys,tmp}
	cp "${BUSYBOX:-/bin/busybox}" "$root/bin"
	install -m 755 "$lab_scripts/guest/init.sh" "$root/init"
	cp "$script" "$root/payload"
	[ $# = 0 ] || cp "$@" "$root/hw"
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet |
		${PACK:-gzip -1}) >"$image"
}

# guest_run COMMAND...: runs a guest for at most TIMEOUT seconds, with its console on
# stdout. Returns 0 if its payload ended with status 0, 2 if the guest died before its
# payload began, and else 1. After a failure it also prints the end of the host's kernel
# log, which may tell the reason. Before guest_run() stops a guest of QEMU, it asks QEMU where the
# guest's CPUs are, and prints the answer.
guest_run()
{
	local fifo=$lab_work/fifo console=$lab_work/console status=0
	local limit=${TIMEOUT:-300} since

	since=$(cut -d ' ' -f 1 /proc/uptime)
	mkfifo "$fifo"
	timeout -k 5 "$limit" "$@" >"$fifo" 2>&1 </dev/null &
	lab_guest=$!
	/usr/bin/python3 "$lab_scripts/lab/last-words.py" "$lab_work/monitor" $((limit - 5)) \
		>"$lab_work/words" &
	lab_questions=$!
	sed -u 's/\r//g' "$fifo" | tee "$console"
	wait "$lab_guest" || status=$?
	kill "$lab_questions" 2>/dev/null || :
	wait "$lab_questions" || :
	lab_questions=
	cat "$lab_work/words"
	lab_guest=
	rm "$fifo"

	if [ $status = 124 ] || [ $status = 137 ]; then
		guest_died "stopped after $limit s"
		return 1
	elif ! grep -q 'lab: payload begins$' "$console"; then
		guest_died "died while it booted (exit status $status)"
		return 2
	elif ! grep -q 'lab: end 0$' "$console"; then
		guest_died "did not end well (exit status $status)"
		return 1
	fi
}

guest_died()
{
	dmesg 2>/dev/null | awk -F '[][]' -v since="$since" '$2 + 1 > since + 0' |
		tail -n 5 | sed 's/^/lab: the host says: /' || :
	echo "lab: guest $1"
}

# guest_log CONSOLE: prints the guest's kernel log since its payload began, without time
# stamps. If the guest died, it prints the console instead.
guest_log()
{
	awk '/lab: that run does not count$/ { out = ""; ended = 0; next }
	     /lab: log begins$/ { out = ""; next }
	     /lab: log ends$/ { ended = 1 }
	     !ended { out = out $0 "\n" }
	     END { printf "%s", out }' "$1" |
		sed -n '/lab: payload begins$/,$p' |
		sed 's/^\[ *[0-9]*\.[0-9]*\] //'
}

# other_version MODULE: prints the module as if another version of hwheel.h was used to build it
other_version()
{
	perl -pe 's/hwheel_version_\K\d+(?=_\d+\0)/9 x length $&/ge' "$1"
}

# dmesg_dirty FILE: prints the lines of a kernel log that should not be there, with those around
# them; true if there are any. Exceptions:
#	lines between hwheel-expect-begin and hwheel-expect-end: a test provoked them
#	KCSAN's reports of races without a function of hwheel: the rest of the kernel has
#		data races of its own
#	a warning that tracing is mounted in debugfs: libbpf, which bpftrace uses, looks
#		there first
#	the stack where an allocation of percpu memory failed in the suite hwheel_create, which
#		lets allocations fail: the kernel may need a new chunk of percpu memory just then
dmesg_dirty()
{
	awk 'held && /^=====+$/ {
		if (held ~ /BUG: KCSAN:[^\n]*(\[hwheel\]| hwheel_| levels_)/)
			printf "%s", held
		held = ""
		next
	     }
	     /BUG: KCSAN:/ { printf "%s", held; held = "" }
	     held || /BUG: KCSAN:/ { held = held $0 "\n"; next }
	     { print }
	     END { printf "%s", held }' "$1" |
	awk '/hwheel-expect-begin/ { expected = 1 }
	     /hwheel-expect-end/ { expected = 0 }
	     /Automounting of tracing to debugfs is deprecated/ { next }
	     /Subtest: hwheel_create$/ { failing = 1 }
	     /ok [0-9]+ hwheel_create$/ { failing = 0 }
	     failing && /percpu: allocation failed/ { percpu = 1 }
	     percpu && /Call Trace/ { percpu = 0; next }
	     !expected { print }
	     END {
		if (expected)
			print "BUG: no hwheel-expect-end"
		if (!NR)
			print "BUG: no kernel log"
	     }' |
		grep -E -B 4 -A 14 "$lab_dirty"
}

lab_dirty='WARNING|\<BUG\>|\<Oops\>|Call Trace|Kernel panic|\<ODEBUG\>'
lab_dirty+='|KASAN|UBSAN|KCSAN|kmemleak: [0-9]+ new|unreferenced object|leak detector disabled'
lab_dirty+='|possible (circular|recursive|irq lock|deadlock)|inconsistent lock state|INFO: '
lab_dirty+='|hung_task|blocked for more than|(soft|hard) ?(lockup|LOCKUP)|rcu.*(stall|detected)'
lab_dirty+='|general protection|unable to handle|NULL pointer|list_(add|del) corruption'
lab_dirty+='|refcount_t|while atomic|invalid context|NOHZ tick-stop error|[Ss]egfault'
lab_dirty+='|deprecated|neither WQ_PERCPU|Unknown symbol|disagrees about version|Invalid module format|stack-protector'
