"""The colour of every pixel from what is seen there: light, shadow, wireframe, smoothing."""

from __future__ import annotations

import numpy as np
from numba import njit

from isocloth.base.typing import FloatArray, IntArray
from isocloth.pictures.colour import to_srgb

OVERSAMPLING = 2  # samples per pixel each way

# Amounts of light on a white cloth: (sky, key, fill, sheen). Colours that carry numbers need even light.
LIT = (0.28, 0.98, 0.12, 0.10)
EVEN = (0.62, 0.44, 0.06, 0.0)

ENCODE = np.round(255.0 * to_srgb(np.linspace(0.0, 1.0, 4096))).astype(np.uint8)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def lit_share(nearness: np.ndarray, column: float, row: float, near: float) -> float:
    """The share (0 to 1) of the samples of the shadow map around a point that leave it lit."""
    rows, columns = nearness.shape
    lit = 0.0
    for di in range(-1, 2):
        i = int(row + 1.3 * di)
        for dj in range(-1, 2):
            j = int(column + 1.3 * dj)
            if i < 0 or j < 0 or i >= rows or j >= columns or nearness[i, j] <= near:
                lit += 1.0
    return lit / 9.0


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def soft_shadow(shadow: np.ndarray, column: float, row: float) -> float:
    """Bilinear value of a map at a place; 0 outside."""
    rows, columns = shadow.shape
    i, j = int(np.floor(row)), int(np.floor(column))
    if i < 0 or j < 0 or i + 1 >= rows or j + 1 >= columns:
        return 0.0
    y, x = row - i, column - j
    return (1.0 - y) * ((1.0 - x) * shadow[i, j] + x * shadow[i, j + 1]) + y * (
        (1.0 - x) * shadow[i + 1, j] + x * shadow[i + 1, j + 1]
    )


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def screen_heights(screen: FloatArray, triangles: IntArray) -> FloatArray:
    """(k, 4): twice the signed area of each triangle on the screen, and its height over each side."""
    result = np.empty((len(triangles), 4))
    for k in range(len(triangles)):
        a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
        bx, by = screen[b, 0] - screen[a, 0], screen[b, 1] - screen[a, 1]
        cx, cy = screen[c, 0] - screen[a, 0], screen[c, 1] - screen[a, 1]
        area = bx * cy - cx * by
        result[k, 0] = area
        result[k, 1] = abs(area) / np.hypot(cx - bx, cy - by)
        result[k, 2] = abs(area) / np.hypot(cx, cy)
        result[k, 3] = abs(area) / np.hypot(bx, by)
    return result


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def wire_strength(kinds: np.ndarray, heights: FloatArray, k: int, u: float, v: float, w: float) -> float:
    """How much of a line (0 to 1) covers the sample with barycentric weights u, v, w of triangle k.

    The weight of a corner times the height over the side opposite to it is the distance to that side.
    """
    strength = 0.0
    # The lines of a mesh finer than the pixels would paint it over.
    fade = min(1.0, max(0.0, (min(heights[k, 1], heights[k, 2], heights[k, 3]) - 5.0) / 12.0))
    for side in range(3):
        if kinds[k, side] == 0:
            continue
        distance = (u if side == 0 else v if side == 1 else w) * heights[k, side + 1]
        if kinds[k, side] == 1:
            strength = max(strength, 0.55 * fade * min(1.0, max(0.0, 1.4 - distance)))
        else:
            strength = max(strength, 0.85 * min(1.0, max(0.0, 2.4 - distance)))
    return strength


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def shade(
    owner: np.ndarray,
    screen: FloatArray,
    vertices: FloatArray,
    normals: FloatArray,
    triangles: IntArray,
    kinds: np.ndarray,
    front: np.ndarray,
    back: np.ndarray,
    eye: FloatArray,
    key: FloatArray,
    fill: FloatArray,
    amounts: tuple[float, float, float, float],
    light_matrix: FloatArray,
    light_nearness: np.ndarray,
    bias: float,
    ground: np.ndarray,
    shadow_at: np.ndarray,
    shadow: np.ndarray,
    encode: np.ndarray,
    picture: np.ndarray,
) -> None:
    """Fill `picture` (height, width, 3) uint8 from the owners of the samples, several per pixel.

    front, back: (n, 3) float32 linear colours of both sides of every vertex. key, fill: unit vectors to the
    lamps. bias: metres by which a point must lie behind another, seen from the lamp, to be in its shadow.
    Light is computed once per pixel and triangle, and once per pixel for the shadow; lines per sample.
    """
    share = 1.0 / (OVERSAMPLING * OVERSAMPLING)
    sky_amount, key_amount, fill_amount, sheen_amount = amounts
    heights = screen_heights(screen, triangles)
    m = light_matrix
    for row in range(picture.shape[0]):
        for column in range(picture.shape[1]):
            red, green, blue, open_ground = 0.0, 0.0, 0.0, 0.0
            r, g, bl, lit, last = 0.0, 0.0, 0.0, -1.0, -1
            for s in range(OVERSAMPLING * OVERSAMPLING):  # a constant: the division is by shifts
                i, j = row * OVERSAMPLING + s // OVERSAMPLING, column * OVERSAMPLING + s % OVERSAMPLING
                k = owner[i, j]
                if k < 0:
                    open_ground += share
                    continue
                a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
                area = heights[k, 0]
                x, y = j + 0.5 - screen[a, 0], i + 0.5 - screen[a, 1]
                v = ((screen[c, 1] - screen[a, 1]) * x - (screen[c, 0] - screen[a, 0]) * y) / area
                w = ((screen[b, 0] - screen[a, 0]) * y - (screen[b, 1] - screen[a, 1]) * x) / area
                u = 1.0 - v - w
                weight = share * (1.0 - wire_strength(kinds, heights, k, u, v, w))
                if k != last:
                    last = k
                    # Weights in space, from those on the screen.
                    u, v, w = u * screen[a, 2], v * screen[b, 2], w * screen[c, 2]
                    total = u + v + w
                    u, v, w = u / total, v / total, w / total
                    px = u * vertices[a, 0] + v * vertices[b, 0] + w * vertices[c, 0]
                    py = u * vertices[a, 1] + v * vertices[b, 1] + w * vertices[c, 1]
                    pz = u * vertices[a, 2] + v * vertices[b, 2] + w * vertices[c, 2]
                    nx = u * normals[a, 0] + v * normals[b, 0] + w * normals[c, 0]
                    ny = u * normals[a, 1] + v * normals[b, 1] + w * normals[c, 1]
                    nz = u * normals[a, 2] + v * normals[b, 2] + w * normals[c, 2]
                    length = np.sqrt(nx * nx + ny * ny + nz * nz) + 1e-30
                    # Rows grow downwards: a counter-clockwise triangle, seen from its front, has area < 0.
                    if area > 0.0:
                        length = -length
                        r = u * back[a, 0] + v * back[b, 0] + w * back[c, 0]
                        g = u * back[a, 1] + v * back[b, 1] + w * back[c, 1]
                        bl = u * back[a, 2] + v * back[b, 2] + w * back[c, 2]
                    else:
                        r = u * front[a, 0] + v * front[b, 0] + w * front[c, 0]
                        g = u * front[a, 1] + v * front[b, 1] + w * front[c, 1]
                        bl = u * front[a, 2] + v * front[b, 2] + w * front[c, 2]
                    nx, ny, nz = nx / length, ny / length, nz / length
                    if lit < 0.0:
                        # The point is moved off the surface, so that its own triangle does not shade it.
                        qx, qy, qz = px + bias * nx, py + bias * ny, pz + bias * nz
                        lit = lit_share(
                            light_nearness,
                            m[0, 0] * qx + m[0, 1] * qy + m[0, 2] * qz + m[0, 3],
                            m[1, 0] * qx + m[1, 1] * qy + m[1, 2] * qz + m[1, 3],
                            m[2, 0] * qx + m[2, 1] * qy + m[2, 2] * qz + m[2, 3] + bias,
                        )
                    facing = nx * key[0] + ny * key[1] + nz * key[2]
                    # Thin cloth also lets some of the light behind it through.
                    direct = lit * max(0.0, facing) + 0.12 * max(0.0, -facing)
                    filled = max(0.0, nx * fill[0] + ny * fill[1] + nz * fill[2])
                    glow = sky_amount * (0.75 + 0.25 * nz) + key_amount * direct + fill_amount * filled
                    ex, ey, ez = eye[0] - px, eye[1] - py, eye[2] - pz
                    slant = abs(nx * ex + ny * ey + nz * ez) / np.sqrt(ex * ex + ey * ey + ez * ez)
                    edge = 1.0 - min(1.0, slant)
                    sheen = sheen_amount * edge * edge * edge * (0.4 + 0.6 * lit)
                    r, g, bl = (
                        r * (glow + sheen) + 0.3 * sheen,
                        g * (glow + sheen) + 0.3 * sheen,
                        bl * (glow + sheen) + 0.3 * sheen,
                    )
                red += weight * r
                green += weight * g
                blue += weight * bl
            if open_ground > 0.0:
                light = open_ground
                if shadow_at[row, column, 2] > 0.0:
                    dark = soft_shadow(shadow, shadow_at[row, column, 0], shadow_at[row, column, 1])
                    light *= 1.0 - shadow_at[row, column, 2] * dark
                red += light * ground[row, column, 0]
                green += light * ground[row, column, 1]
                blue += light * ground[row, column, 2]
            picture[row, column, 0] = encode[int(4095.0 * min(1.0, red) + 0.5)]
            picture[row, column, 1] = encode[int(4095.0 * min(1.0, green) + 0.5)]
            picture[row, column, 2] = encode[int(4095.0 * min(1.0, blue) + 0.5)]
