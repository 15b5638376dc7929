// An SVG file as a PNG file, drawn by the browser.

/** The SVG text as a PNG blob of width * scale by height * scale pixels. */
export async function svgToPng(svgText, width, height, scale = 2) {
  const address = URL.createObjectURL(new Blob([svgText], {type: "image/svg+xml"}));
  try {
    const image = new Image(width, height);
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser made no PNG"))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}
