// SPDX-License-Identifier: Apache-2.0
/// The native libraries that a jar contains and that one process at a time unpacks into a directory
/// that processes share. This package does not know any library; modules with native libraries
/// implement `NativeLibraries`.
package io.weft.natives;
