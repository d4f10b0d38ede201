// SPDX-License-Identifier: Apache-2.0
/// Native libraries that come in a jar and are unpacked into a directory that processes share, by
/// one process at a time. Knows no library: modules that bring some implement `NativeLibraries`.
package io.weft.natives;
