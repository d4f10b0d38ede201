// SPDX-License-Identifier: Apache-2.0
/// Small pictures in colour: CIFAR-10 in binary batches or folders of images, and synthetic ones.
@NullMarked
package io.weft.workloads.pictures;

import org.jspecify.annotations.NullMarked;
