//! The texts in Spanish.

use super::InstallWords;

pub(super) const INSTALL: InstallWords = InstallWords {
    tab: "Añade cajeros de Bitcoin a tu asistente",
    about_data: "Sobre los datos",
    title: "Tu asistente puede encontrar el cajero de Bitcoin más cercano",
    lead: "Dale esta dirección una vez. Sin cuenta, sin clave, sin coste.",
    copy: "Copiar",
    copied: "La dirección está copiada.",
    privacy: "El servidor ve el lugar por el que preguntas y no te pide ningún nombre. Los lugares no se guardan.",
    privacy_with_geocoder: "El servidor ve el lugar por el que preguntas y no te pide ningún nombre. Lo que no conoce, lo \
                            consulta en otro servicio.",
    no_address: "Este servidor no conoce su propia dirección.",
    no_address_text: "Quien lo lleva la indica con --public-url. Entonces aparecerá aquí.",
    example: "Un ejemplo",
    question: "¿Dónde puedo vender bitcoin por efectivo cerca del centro de Austin?",
    answer: "Dos máquinas a menos de 4 millas pagan en efectivo:",
    first: ("Example Coin en Lakeside Laundry", ", a 0,9 mi, abierta todo el día, comprobada el 3 de octubre de 2026"),
    second: ("Example Coin en Hill Books", ", a 3,2 mi, horario no conocido"),
    warning: "Si alguien te ha dicho que pagues en una máquina así, detente y llama a una persona de confianza.",
    add_to: "Añádelo a",
    client: "Programa",
    terminal: "Terminal",
    other: "Otro",
    claude_steps: "Ajustes, Conectores, Añadir conector personalizado. Pega la dirección. No hay que iniciar sesión.",
    chatgpt_steps: "Ajustes, Conectores, Modo de desarrollador, Crear. Pega la dirección y elige “Sin autenticación”.",
    not_from_internet: "Llama a los servidores desde internet, por https. Desde allí no se llega a esta dirección.",
    one_button: "Un botón, o una línea en un terminal:",
    add_to_program: "Añadir a",
    terminal_clients: "Para los programas que viven en un terminal:",
    other_clients: "Todo programa que habla MCP por HTTP acepta la dirección. Uno que solo inicia otros programas:",
    tools: "Qué puede preguntar",
    find_nearest: "Máquinas cerca de un lugar, la más cercana primero, con su estado y desde cuándo se conoce.",
    get_details: "Una máquina o varias: horario, comisión, límites, fuentes y lo que dice la ley del lugar.",
    check_status: "Cuántas máquinas cerca de un lugar están abiertas, cerradas o sin datos, y las más cercanas.",
    list_by_city: "Todas las máquinas de una ciudad, página por página.",
};
