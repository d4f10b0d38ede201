// SPDX-License-Identifier: Apache-2.0
/// Devices and their resources as objects: each has owners, ends with them and after what depends
/// on it. Making, changing and closing: any thread. Posting and polling: one thread for each queue
/// pair and completion queue.
@NullMarked
package io.weft.verbs.device;

import org.jspecify.annotations.NullMarked;
