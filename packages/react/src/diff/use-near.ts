import { useEffect, useRef, useState, type RefObject } from "react";

/** True from when an element first comes within a screen of the view. */
export function useNear(): [place: RefObject<HTMLDivElement | null>, isNear: boolean] {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: "100% 0px" },
    );
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, []);
  return [place, isNear];
}
